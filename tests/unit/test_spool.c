// SPDX-License-Identifier: GPL-2.0
/* links: agent/export/spool.o agent/export/spool_begin.o agent/export/store.o
 * agent/export/spool_thread.o agent/export/spool_log.o agent/export/spool_file.o
 * agent/capture/queue.o wire/spool.o wire/tryst.o wire/derive.o wire/keys.o wire/combo.o
 * wire/columns.o wire/fields.o wire/dot11_templates.o wire/wired_templates.o wire/wired_append.o
 * wire/tails.o */
/* The spool: what is sealed and for whom, what a cut or an altered file still gives, the thread. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <unistd.h>

#include "spool_world.h"
#include "wire/bytes.h"

#define LEN 40
#define MANY 6

static struct keypair sensor, collector, other;
static uint8_t pair[KEY_LEN], pair_other[KEY_LEN];

static int begin(void **state)
{
	(void)state;
	struct keypair *all[3] = { &sensor, &collector, &other };

	if (keys_init())
		return -1;
	for (int i = 0; i < 3; i++) {
		key_generate(all[i]->secret);
		key_public(all[i]->public, all[i]->secret);
	}
	return tryst_pair(pair, &sensor, collector.public, true, NULL) ||
	       tryst_pair(pair_other, &sensor, other.public, true, NULL);
}

/* ---- records --------------------------------------------------------------------------------- */

static void a_record_opens_under_its_name_alone(void **state)
{
	uint8_t key[KEY_LEN], combo[LEN], record[LEN + SPOOL_RECORD_OVERHEAD];
	uint8_t out[SPOOL_RECORD_MAX], *got;
	size_t len = 0, n;

	(void)state;
	key_generate(key);
	randombytes_buf(combo, sizeof(combo));
	n = spool_seal(record, key, 100, 200, combo, LEN);
	assert_int_equal(n, sizeof(record));
	got = spool_open(out, &len, key, 100, 200, record, n);
	assert_non_null(got);
	assert_int_equal(len, LEN);
	assert_memory_equal(got, combo, LEN);
	assert_null(spool_open(out, &len, key, 101, 200, record, n));
	assert_null(spool_open(out, &len, key, 100, 201, record, n));
	for (size_t cut = 0; cut < n; cut++)
		assert_null(spool_open(out, &len, key, 100, 200, record, cut));
	for (size_t i = 0; i < n; i++) {
		record[i] ^= 1;
		assert_null(spool_open(out, &len, key, 100, 200, record, n));
		record[i] ^= 1;
	}
}

/* Seals both combos under one name. Returns how many bytes the two records have in common. */
static int same_bytes(const uint8_t *combo, const uint8_t *second_combo)
{
	static const uint8_t key[KEY_LEN] = { 1 };
	uint8_t first[LEN + SPOOL_RECORD_OVERHEAD], second[sizeof(first)], out[SPOOL_RECORD_MAX];
	size_t len;
	int same = 0;

	spool_seal(first, key, 100, 200, combo, LEN);
	spool_seal(second, key, 100, 200, second_combo, LEN);
	assert_non_null(spool_open(out, &len, key, 100, 200, second, sizeof(second)));
	for (size_t i = 0; i < sizeof(first); i++)
		same += first[i] == second[i];
	return same;
}

/* Two copies of a file's key, or two machines resumed from one snapshot, give two combos the same
 * name. With one key for both, a holder of both records could see the difference. */
static void each_record_has_a_key_of_its_own(void **state)
{
	uint8_t combo[LEN] = { 0 }, another[LEN] = { 1 };

	(void)state;
	assert_in_range(same_bytes(combo, combo), 0, 8); /* of 88; 8 have a chance of 10^-9 */
	assert_in_range(same_bytes(combo, another), 0, 8);
}

static uint32_t no_random(void)
{
	return 0;
}

static void no_random_buf(void *const buf, const size_t len)
{
	memset(buf, 0, len);
}

static const char *no_random_name(void)
{
	return "none";
}

/* A machine resumed twice may draw the same random bytes twice. The combo then makes the keys
 * differ. */
static void records_of_one_snapshot_have_two_keys(void **state)
{
	static struct randombytes_implementation none = { .implementation_name = no_random_name,
							  .random = no_random,
							  .buf = no_random_buf };
	uint8_t combo[LEN] = { 0 }, another[LEN] = { 1 };
	int same, of_two;

	(void)state;
	randombytes_set_implementation(&none);
	same = same_bytes(combo, combo);
	of_two = same_bytes(combo, another);
	randombytes_set_implementation(&randombytes_sysrandom_implementation);
	assert_int_equal(same, LEN + SPOOL_RECORD_OVERHEAD);
	assert_in_range(of_two, 0, 8);
}

static void a_key_is_for_one_collector(void **state)
{
	uint8_t key[KEY_LEN], got[KEY_LEN], hello[SPOOL_HELLO_LEN];
	struct keypair file;

	(void)state;
	key_generate(key);
	tryst_ephemeral(&file, sensor.secret, 1);
	memcpy(hello, file.public, KEY_LEN);
	assert_int_equal(spool_wrap(hello + KEY_LEN, &file, pair, collector.public, key), 0);
	assert_int_equal(spool_unwrap(got, hello, &collector, pair), 0);
	assert_memory_equal(got, key, KEY_LEN);
	assert_int_equal(spool_unwrap(got, hello, &other, pair_other), -EBADMSG);
	assert_int_equal(spool_unwrap(got, hello, &sensor, pair), -EBADMSG); /* not even its own */
	for (int i = 0; i < SPOOL_HELLO_LEN; i++) {
		hello[i] ^= 1;
		/* X25519 ignores the highest bit; E differs all the same. */
		assert_int_equal(spool_unwrap(got, hello, &collector, pair), -EBADMSG);
		hello[i] ^= 1;
	}
}

/* ---- the file -------------------------------------------------------------------------------- */

static int temporary(void)
{
	char path[] = "/tmp/spool.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

static struct spool_head head = { .order = 1, .run = 2, .stamp = 3 };

/* Writes some records to segment 0. Returns their end in the file. */
static off_t file_write(struct spool_file *f, int fd)
{
	uint64_t at = SPOOL_SEGMENT_HEAD;
	uint8_t data[LEN];

	memset(f, 0, sizeof(*f));
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(spool_file_begin(f, fd, 0), 0);
	assert_int_equal(spool_head_write(f, &head), 0);
	for (uint64_t i = 0; i < MANY; i++) {
		struct spool_record r = { .kind = SPOOL_COMBO,
					  .count = i,
					  .first = 10 * i,
					  .frames = 10,
					  .len = LEN - i,
					  .data = data };

		memset(data, i, sizeof(data));
		assert_int_equal(spool_record_write(f, &head, &at, &r), 0);
	}
	return SPOOL_FIRST + at;
}

/* The first records read are as written, whatever happened to the rest. */
static uint64_t file_check(struct spool_file *f)
{
	static uint8_t data[SPOOL_RECORD_MAX];
	uint64_t at = SPOOL_SEGMENT_HEAD, n = 0;
	struct spool_head h;
	struct spool_record r;

	if (spool_head_read(f, 0, &h))
		return 0;
	for (; spool_record_read(f, &h, &at, &r, data) == 0; n++) {
		assert_true(n < MANY);
		assert_true(r.count == n && r.first == 10 * n && r.frames == 10);
		assert_int_equal(r.len, LEN - n);
		for (uint32_t i = 0; i < r.len; i++)
			assert_int_equal(r.data[i], n);
	}
	return n;
}

static void a_file_cut_anywhere_gives_whole_records(void **state)
{
	struct spool_file *f = malloc(sizeof(*f));
	int fd = temporary();
	uint64_t last = 0;
	off_t end = file_write(f, fd);

	(void)state;
	assert_int_equal(file_check(f), MANY);
	for (off_t cut = 0; cut <= end; cut++) {
		uint64_t n;

		file_write(f, fd);
		assert_int_equal(ftruncate(fd, cut), 0);
		n = file_check(f);
		assert_int_equal(spool_file_begin(f, fd, 0), 0);
		assert_true(n >= last && n <= last + 1);
		last = n;
	}
	assert_int_equal(last, MANY);
	close(fd);
	free(f);
}

static void a_file_altered_anywhere_gives_what_is_before(void **state)
{
	struct spool_file *f = malloc(sizeof(*f));
	int fd = temporary();
	off_t end = file_write(f, fd);

	(void)state;
	for (off_t at = SPOOL_FIRST; at < end; at++) {
		uint8_t byte;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 1 << at % 8;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		if (at >= SPOOL_FIRST + SPOOL_SEGMENT_HEAD)
			assert_true(file_check(f) < MANY);
		else
			file_check(f); /* zeros after the head mean nothing */
		byte ^= 1 << at % 8;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	assert_int_equal(file_check(f), MANY);
	close(fd);
	free(f);
}

/* The segment was reused: old records after the new ones are not part of it. */
static void an_earlier_use_of_a_segment_is_not_read(void **state)
{
	struct spool_file *f = malloc(sizeof(*f));
	struct spool_head again = head;
	int fd = temporary();

	(void)state;
	file_write(f, fd);
	again.stamp++;
	assert_int_equal(spool_head_write(f, &again), 0);
	assert_int_equal(file_check(f), 0);
	close(fd);
	free(f);
}

/* The reader looks for the next higher one. If that wrapped, the reader would never end. */
static void an_order_without_a_next_one_is_refused(void **state)
{
	struct spool_file *f = malloc(sizeof(*f));
	struct spool_head last = head, h;
	int fd = temporary();

	(void)state;
	file_write(f, fd);
	last.order = UINT64_MAX;
	assert_int_equal(spool_head_write(f, &last), 0);
	assert_int_equal(spool_head_read(f, 0, &h), -EBADMSG);
	close(fd);
	free(f);
}

static void what_is_something_else_is_refused(void **state)
{
	struct spool_file *f = calloc(1, sizeof(*f));
	int fd = temporary();

	(void)state;
	assert_int_equal(write(fd, "something else that is long enough", 34), 34);
	assert_int_equal(spool_file_begin(f, fd, 0), -EBADMSG);
	assert_int_equal(pwrite(fd, "saluki spool 1\n\0\0\0\0\0\0\1\0\0", 25, 0), 25);
	assert_int_equal(spool_file_begin(f, fd, 0), -EPROTONOSUPPORT);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(spool_file_begin(f, fd, 0), 0);
	close(fd);
	free(f);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Replaces the C library's: fails with this error, unless it is 0. */
static int write_error;

ssize_t pwrite(int fd, const void *in, size_t len, off_t at)
{
	errno = __atomic_load_n(&write_error, __ATOMIC_ACQUIRE);
	if (errno)
		return -1;
	return lseek(fd, at, SEEK_SET) == at ? write(fd, in, len) : -1;
}

static struct spool *spool_at(const char *path, struct session *session)
{
	struct spool *s = spool_new(path, session);

	assert_non_null(s);
	return s;
}

static void put(struct spool *s, uint64_t count, size_t len)
{
	uint8_t *room;

	while (!(room = spool_slot(s, count)))
		await(s);
	memset(room, count, len);
	spool_put(s, count, 3 * count, 3, len);
}

/* As session_lasting() has it, for combos from `count` on. */
static void put_info(struct spool *s, uint64_t count, const char *text)
{
	while (__atomic_load_n(&s->change.len, __ATOMIC_ACQUIRE))
		await(s);
	s->info_next.len = strlen(text);
	memcpy(s->info_next.text, text, s->info_next.len);
	s->change.count = count;
	__atomic_store_n(&s->change.len, s->info_next.len, __ATOMIC_RELEASE);
}

static void await_written(struct spool *s, uint64_t count)
{
	while (!spool_has(s, count))
		await(s);
}

static void check_read(struct spool *s, uint64_t count, size_t len)
{
	const struct spool_reader *r;

	while (!(r = spool_read(s, &s->ours, SPOOL_OURS, count)))
		await(s);
	assert_int_equal(r->state, SPOOL_READY);
	assert_true(r->r.count == count && r->r.first == 3 * count && r->r.frames == 3);
	assert_int_equal(r->r.len, len);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(r->r.data[i], count & 0xff);
	spool_read_done(&s->ours);
}

static void path_new(char path[32])
{
	strcpy(path, "/tmp/spool.XXXXXX");
	close(mkstemp(path));
}

static void what_is_put_comes_back_and_goes_when_settled(void **state)
{
	struct session *session = session_new(&sensor, &collector);
	char path[32];
	struct spool *s;

	(void)state;
	path_new(path);
	s = spool_at(path, session);
	for (uint64_t n = 0; n < 200; n++) /* several segments */
		put(s, n, 1000 + n);
	await_written(s, 199);
	check_read(s, 7, 1007);
	for (uint64_t n = 20; n < 200; n++)
		check_read(s, n, 1000 + n);
	assert_true(lseek(s->file.fd, 0, SEEK_END) > 0);
	spool_settle(s, 200);
	spool_stop(s);
	assert_int_equal(s->used, 0);
	assert_int_equal(lseek(s->file.fd, 0, SEEK_END), 0);
	spool_free(s);
	unlink(path);
	session_delete(session);
}

static void when_full_it_says_until_when_and_goes_on_then(void **state)
{
	struct session *session = session_new(&sensor, &collector);
	uint64_t n = 0, until;
	char path[32];
	struct spool *s;

	(void)state;
	path_new(path);
	s = spool_at(path, session);
	for (; spool_works(s); n++) {
		put(s, n, 30000);
		while (spool_works(s) && !spool_has(s, n))
			await(s);
	}
	assert_true(lseek(s->file.fd, 0, SEEK_END) <=
		    SPOOL_FIRST + SPOOL_SEGMENTS * (off_t)s->file.segment_bytes);
	until = __atomic_load_n(&s->stuck_until, __ATOMIC_ACQUIRE);
	assert_true(until > 0 && until < n);
	spool_settle(s, until);
	await_written(s, n - 1); /* the thread retries by itself */
	assert_true(spool_works(s));
	check_read(s, n - 1, 30000);
	spool_stop(s);
	spool_free(s);
	unlink(path);
	session_delete(session);
}

/* A quota, and a limit of the file system, are a full disk: the spool fails until it can write. */
static void a_quota_is_a_full_disk(void **state)
{
	static const int errors[] = { ENOSPC, EDQUOT, EFBIG };

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct session *session = session_new(&sensor, &collector);
		char path[32];
		struct spool *s;

		path_new(path);
		s = spool_at(path, session);
		__atomic_store_n(&write_error, errors[i], __ATOMIC_RELEASE);
		put(s, 0, 1000);
		while (spool_works(s) && !spool_has(s, 0))
			await(s);
		assert_true(__atomic_load_n(&s->stuck_until, __ATOMIC_ACQUIRE) == SPOOL_FAILS);
		__atomic_store_n(&write_error, 0, __ATOMIC_RELEASE);
		await_written(s, 0); /* the thread retries by itself */
		assert_true(spool_works(s));
		check_read(s, 0, 1000);
		spool_stop(s);
		spool_free(s);
		unlink(path);
		session_delete(session);
	}
}

/* Totals are written behind the combos that they count. After a failed write they are written
 * again. */
static void totals_hold_nothing_up(void **state)
{
	struct session *session = session_new(&sensor, &collector);
	uint64_t n = 0;
	char path[32];
	struct spool *s;

	(void)state;
	path_new(path);
	s = spool_at(path, session);
	for (; spool_works(s); n++) {
		put(s, n, 30000);
		while (spool_works(s) && !spool_has(s, n))
			await(s);
	}
	spool_totals(s, (const uint8_t *)"t", 1);
	put(s, n, 100);
	spool_settle(s, __atomic_load_n(&s->stuck_until, __ATOMIC_ACQUIRE));
	await_written(s, n);
	check_read(s, n - 1, 30000);
	check_read(s, n, 100);
	while (__atomic_load_n(&s->totals.len, __ATOMIC_ACQUIRE))
		await(s);
	spool_stop(s);
	spool_free(s);
	unlink(path);
	session_delete(session);
}

static void assert_text(const char *text, const void *got, size_t len)
{
	assert_int_equal(len, strlen(text));
	assert_memory_equal(got, text, len);
}

/* Within a segment, and at the beginning of each. */
static void a_combo_is_behind_the_info_that_it_is_of(void **state)
{
	static const char *const texts[4] = { "interface.0=one\n", "interface.0=two\n",
					      "interface.0=none\n", "interface.0=three\n" };
	struct session *session = session_new(&sensor, &collector);
	const struct spool_reader *r;
	uint64_t counts = 0, infos = 0;
	const char *now = NULL;
	char path[32];
	struct spool *s;

	(void)state;
	path_new(path);
	s = spool_at(path, session);
	for (uint64_t n = 0; n < 300; n++) {
		if (n == 70)
			put_info(s, n, texts[1]);
		if (n == 210)
			put_info(s, n, texts[3]);
		put(s, n, 1000);
	}
	await_written(s, 299);
	put_info(s, 300, texts[2]);
	for (uint64_t n = 0; n < 300; n++)
		check_read(s, n, 1000);
	spool_settle(s, 65); /* the rest begins with another segment */
	spool_stop(s);
	spool_free(s);
	s = spool_at(path, session);
	assert_int_equal(session->spool_count, 1);
	assert_text(texts[0], session->spools[0].info.text, session->spools[0].info.len);
	for (; (r = read_old(s, 1))->state != SPOOL_NONE; spool_read_done(&s->old)) {
		if (r->r.kind == SPOOL_INFO) {
			for (int i = 0; i < 4; i++)
				if (r->r.len == strlen(texts[i]) &&
				    !memcmp(r->r.data, texts[i], r->r.len))
					now = texts[i];
			infos++;
			continue;
		}
		assert_int_equal(r->r.kind, SPOOL_COMBO);
		assert_ptr_equal(now, texts[r->r.count < 70 ? 0 : r->r.count < 210 ? 1 : 3]);
		counts++;
	}
	assert_true(counts > 230 && counts < 300);
	assert_true(infos > 5 && infos < 10); /* segments, and changes within */
	spool_read_done(&s->old);
	spool_stop(s);
	spool_free(s);
	unlink(path);
	session_delete(session);
}

/* A kill came in between, or someone altered it. */
static void a_segment_is_there_with_an_info_and_more(void **state)
{
	struct session *session = session_new(&sensor, &collector);
	static uint8_t text[INFO_LASTING_MAX + 1] = "os=x\n";
	const struct {
		uint8_t kind;
		size_t len, records;
		unsigned int groups;
	} cases[] = {
		{ SPOOL_INFO, 5, 1, 0 },
		{ SPOOL_INFO, 5, 2, 1 },
		{ SPOOL_INFO, INFO_LASTING_MAX, 2, 1 },
		{ SPOOL_INFO, INFO_LASTING_MAX + 1, 2, 0 },
		{ SPOOL_TOTALS, 5, 2, 0 },
	};
	static struct spool_file f;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct spool_record r = { .kind = cases[i].kind,
					  .len = cases[i].len,
					  .data = text };
		uint64_t at = SPOOL_SEGMENT_HEAD;
		char path[32];
		struct spool *s;

		path_new(path);
		assert_int_equal(spool_file_begin(&f, open(path, O_RDWR), 0), 0);
		assert_int_equal(spool_head_write(&f, &head), 0);
		for (size_t n = 0; n < cases[i].records; n++)
			assert_int_equal(spool_record_write(&f, &head, &at, &r), 0);
		close(f.fd);
		s = spool_at(path, session);
		assert_int_equal(session->spool_count, cases[i].groups);
		if (cases[i].groups)
			assert_int_equal(session->spools[0].info.len, cases[i].len);
		spool_stop(s);
		spool_free(s);
		unlink(path);
	}
	session_delete(session);
}

/* Two of them, left by an earlier process. */
static void another_process_forwards_what_it_cannot_open(void **state)
{
	struct session *session = session_new(&sensor, &collector), *later;
	uint8_t key[KEY_LEN], out[SPOOL_RECORD_MAX];
	const struct spool_reader *r;
	uint64_t expected = 10;
	char path[32];
	struct spool *s;
	size_t len;

	(void)state;
	path_new(path);
	for (int life = 0; life < 2; life++) {
		session->run = 42 + life;
		s = spool_at(path, session);
		spool_settle(s, 10);
		__atomic_store_n(&s->handed, 10, __ATOMIC_RELEASE);
		for (uint64_t n = 10; n < 110; n++)
			put(s, n, 1000);
		await_written(s, 109);
		spool_stop(s);
		spool_free(s);
	}
	later = session_new(&sensor, &collector);
	s = spool_at(path, later);
	assert_int_equal(later->spool_count, 2);
	assert_true(later->spools[0].run == 42 && later->spools[1].run == 43);
	assert_true(later->spools[0].is_for[0]);
	assert_int_equal(spool_unwrap(key, later->spools[0].keys[0][0].hello, &collector, pair), 0);
	for (; (r = read_old(s, 1))->state != SPOOL_NONE; spool_read_done(&s->old)) {
		if (r->r.kind == SPOOL_INFO)
			continue;
		assert_int_equal(r->r.count, expected);
		assert_non_null(spool_open(out, &len, key, 42, expected, r->r.data, r->r.len));
		expected++;
	}
	assert_int_equal(expected, 110);
	spool_read_done(&s->old);
	assert_int_equal(read_old(s, 2)->r.kind, SPOOL_INFO);
	spool_read_done(&s->old);
	assert_int_equal(read_old(s, 2)->r.count, 10);
	__atomic_store_n(&later->spools[0].done, true, __ATOMIC_RELEASE);
	__atomic_store_n(&later->spools[1].done, true, __ATOMIC_RELEASE);
	spool_stop(s);
	assert_int_equal(lseek(s->file.fd, 0, SEEK_END), 0);
	spool_free(s);
	unlink(path);
	session_delete(session);
	session_delete(later);
}

static void one_is_not_for_another_collector(void **state)
{
	struct session *session = session_new(&sensor, &collector);
	struct session *later = session_new(&sensor, &other);
	char path[32];
	struct spool *s;

	(void)state;
	path_new(path);
	s = spool_at(path, session);
	put(s, 0, 10);
	await_written(s, 0);
	spool_stop(s);
	spool_free(s);
	s = spool_at(path, later);
	assert_int_equal(later->spool_count, 1);
	assert_false(later->spools[0].is_for[0]);
	spool_stop(s);
	assert_int_equal(s->used, 1); /* and stays */
	spool_free(s);
	unlink(path);
	session_delete(session);
	session_delete(later);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_opens_under_its_name_alone),
		cmocka_unit_test(each_record_has_a_key_of_its_own),
		cmocka_unit_test(records_of_one_snapshot_have_two_keys),
		cmocka_unit_test(a_key_is_for_one_collector),
		cmocka_unit_test(a_file_cut_anywhere_gives_whole_records),
		cmocka_unit_test(a_file_altered_anywhere_gives_what_is_before),
		cmocka_unit_test(an_earlier_use_of_a_segment_is_not_read),
		cmocka_unit_test(an_order_without_a_next_one_is_refused),
		cmocka_unit_test(what_is_something_else_is_refused),
		cmocka_unit_test(what_is_put_comes_back_and_goes_when_settled),
		cmocka_unit_test(when_full_it_says_until_when_and_goes_on_then),
		cmocka_unit_test(a_quota_is_a_full_disk),
		cmocka_unit_test(totals_hold_nothing_up),
		cmocka_unit_test(a_combo_is_behind_the_info_that_it_is_of),
		cmocka_unit_test(a_segment_is_there_with_an_info_and_more),
		cmocka_unit_test(another_process_forwards_what_it_cannot_open),
		cmocka_unit_test(one_is_not_for_another_collector),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
