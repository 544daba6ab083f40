// SPDX-License-Identifier: GPL-2.0
/* links: agent/export/spool.o agent/export/spool_begin.o agent/export/store.o
 * agent/export/spool_thread.o agent/export/spool_log.o agent/export/spool_file.o
 * agent/capture/queue.o wire/spool.o wire/tryst.o wire/derive.o wire/keys.o wire/combo.o
 * wire/columns.o wire/fields.o wire/dot11_templates.o wire/wired_templates.o wire/wired_append.o
 * wire/tails.o wire/info.o */
/*
 * The spool: an altered file, and the records a sensor forwards from it. Input: steps, each a byte
 * of the file, a truncation, a segment's head with or without an info, or a record of any kind with
 * a valid check. Then the file is read as by the next process. Always holds: forwarded records have
 * rising counts within a group and valid lengths; the collector opens only records sealed with the
 * group's key under that run and count.
 */
#include <fcntl.h>
#include <unistd.h>

#include "fuzz.h"
#include "fuzz_random.h"
#include "tests/unit/spool_world.h"
#include "wire/bytes.h"

#define COMBO 100

static struct keypair sensor, collector;
static uint8_t pair[KEY_LEN];
static struct spool_head head;
static uint8_t key[KEY_LEN];
static char path[64];

static void remove_file(void)
{
	unlink(path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct keypair file;

	(void)argc;
	(void)argv;
	fuzz_random_init();
	fuzz_quiet();
	snprintf(path, sizeof(path), "/tmp/fuzz-spool.%d", getpid());
	atexit(remove_file);
	memset(sensor.secret, 1, KEY_LEN);
	memset(collector.secret, 2, KEY_LEN);
	memset(file.secret, 3, KEY_LEN);
	memset(key, 4, KEY_LEN);
	key_public(sensor.public, sensor.secret);
	key_public(collector.public, collector.secret);
	key_public(file.public, file.secret);
	CHECK(!tryst_pair(pair, &sensor, collector.public, true, NULL));
	head.run = 7;
	memcpy(head.ephemeral, file.public, KEY_LEN);
	spool_mark(head.peers[0], collector.public, file.public);
	CHECK(!spool_wrap(head.peers[0] + SPOOL_MARK_LEN, &file, pair, collector.public, key));
	return 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Returns the offset of the first record. */
static uint64_t write_head(struct spool_file *f, bool with_info)
{
	static const char text[] = "change=1\ninterface.0=a\n";
	struct spool_record r = { .kind = SPOOL_INFO,
				  .len = sizeof(text) - 1,
				  .data = (const uint8_t *)text };
	uint64_t at = SPOOL_SEGMENT_HEAD;

	spool_head_write(f, &head);
	if (with_info)
		spool_record_write(f, &head, &at, &r);
	return at;
}

static void write_sealed(struct spool_file *f, uint64_t *at, uint64_t count)
{
	uint8_t record[COMBO + SPOOL_RECORD_OVERHEAD], combo[COMBO];
	struct spool_record r = {
		.kind = SPOOL_COMBO, .count = count, .first = count, .frames = 1, .data = record
	};

	memset(combo, count, sizeof(combo));
	r.len = spool_seal(record, key, head.run, count, combo, COMBO);
	spool_record_write(f, &head, at, &r);
}

static void write_strange(struct spool_file *f, struct fuzz_input *in, uint64_t *at)
{
	uint8_t data[INFO_LASTING_MAX + 80] = { 0 };
	struct spool_record r = { .kind = fuzz_number(in, 1),
				  .count = fuzz_number(in, 8),
				  .data = data };

	r.first = fuzz_number(in, 8);
	r.frames = fuzz_number(in, 4);
	r.len = fuzz_number(in, 2) % sizeof(data);
	for (unsigned int i = 0; i < r.len && i < 40; i++)
		data[i] = fuzz_number(in, 1);
	spool_record_write(f, &head, at, &r);
}

static void file_make(struct spool_file *f, struct fuzz_input *in)
{
	unsigned int next;
	uint64_t at, count = 0;

	at = write_head(f, true);
	while (in->p < in->end) {
		switch (fuzz_number(in, 1) % 5) {
		case 0:
			write_sealed(f, &at, count++);
			break;
		case 1:
			write_strange(f, in, &at);
			break;
		case 2:
			next = fuzz_number(in, 1);
			head.segment = next % SPOOL_SEGMENTS;
			head.order = fuzz_number(in, 2);
			head.stamp++;
			at = write_head(f, !(next & 0x80));
			break;
		case 3: {
			uint64_t place = fuzz_number(in, 3);
			uint8_t byte = fuzz_number(in, 1);

			if (pwrite(f->fd, &byte, 1,
				   place % (SPOOL_FIRST + 2 * SPOOL_SEGMENT_MIN)) != 1)
				return;
			break;
		}
		case 4:
			if (ftruncate(f->fd, fuzz_number(in, 3)))
				return;
			break;
		}
	}
}

/* ---- forward, and take ----------------------------------------------------------------------- */

static void collector_take(const struct session_spool *g, const struct spool_record *r)
{
	static uint8_t out[SPOOL_RECORD_MAX];
	uint8_t got[KEY_LEN], *record = fuzz_copy(r->data, r->len);
	const uint8_t *combo = NULL;
	size_t len = 0;

	if (!spool_unwrap(got, g->keys[0][0].hello, &collector, pair))
		combo = spool_open(out, &len, got, g->run, r->count, record, r->len);
	CHECK(!combo || (g->run == head.run && len == COMBO));
	for (size_t i = 0; combo && i < len; i++)
		CHECK(combo[i] == (uint8_t)r->count);
	fuzz_free(record);
}

static void collector_hears(const void *text, size_t len)
{
	uint8_t *copy = fuzz_copy(text, len);
	struct info info;

	info_read(&info, copy, len);
	fuzz_free(copy);
}

static void forward(struct spool *s, struct session *session, unsigned int group)
{
	const struct info_lasting *first = &session->spools[group].info;
	uint64_t last = UINT64_MAX;
	const struct spool_reader *r;

	CHECK(first->len > 0 && first->len <= INFO_LASTING_MAX);
	collector_hears(first->text, first->len);

	for (;; spool_read_done(&s->old)) {
		r = read_old(s, group + 1);
		if (r->state == SPOOL_NONE)
			break;
		CHECK(r->r.len > 0 && r->r.len <= SPOOL_RECORD_MAX);
		if (r->r.kind != SPOOL_COMBO)
			continue;
		CHECK(last == UINT64_MAX || r->r.count > last);
		last = r->r.count;
		collector_take(&session->spools[group], &r->r);
	}
	spool_read_done(&s->old);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct spool_file f;
	struct fuzz_input in = { data, data + size };
	struct session *session;
	struct spool *s;

	f.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(f.fd >= 0 && spool_file_begin(&f, f.fd, 0) == 0);
	head.segment = head.order = head.stamp = 0;
	file_make(&f, &in);
	session = session_new(&sensor, &collector);
	s = spool_new(path, session);
	if (s) {
		for (unsigned int g = 0; g < session->spool_count; g++)
			forward(s, session, g);
		spool_stop(s);
		spool_free(s);
	}
	close(f.fd);
	session_delete(session);
	return 0;
}
