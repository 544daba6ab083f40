// SPDX-License-Identifier: GPL-2.0
/* links: live/block.o live/directory.o common/expression.o live/interfaces.o dissect/radiotap.o
 * live/reader.o live/say.o live/select.o live/stream.o live/take.o live/toolbar.o wire/channel.o */
/*
 * A viewer whose collector was taken over: the ring and the table have any contents, and change
 * while they are read. Input: the numbers in both, bytes of the ring, the halves and the sensors,
 * then steps: read a record, write statistics, change a number or bytes. Always holds: the
 * viewer writes one section of whole blocks, and each packet's interface block precedes it.
 */
#include <errno.h>
#include <signal.h>

#include "fuzz.h"
#include "live/say.h"
#include "live/take.h"

#define RING 8192
#define STEPS 64
#define SENSORS 4

static uint8_t *ring, *table;
static volatile sig_atomic_t stop;

static void *memory(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

/* ---- the collector --------------------------------------------------------------------------- */

static void bytes(struct fuzz_input *in, uint8_t *to, size_t room)
{
	size_t len = fuzz_number(in, 2) % (room + 1), left = in->end - in->p;

	len = len < left ? len : left;
	memset(to, 0, room);
	memcpy(to, in->p, len);
	in->p += len;
}

static void lie(struct fuzz_input *in)
{
	struct live_ring *r = (struct live_ring *)ring;
	struct live_table *t = (struct live_table *)table;

	switch (fuzz_number(in, 1) % 8) {
	case 0:
		r->head = fuzz_number(in, 8);
		break;
	case 1:
		r->head += fuzz_number(in, 2);
		break;
	case 2:
		r->floor = fuzz_number(in, 3);
		break;
	case 3:
		r->writing = fuzz_number(in, 1);
		break;
	case 4:
		t->generation = fuzz_number(in, 1);
		break;
	case 5:
		t->sensors = fuzz_number(in, 1) & 0x80 ? UINT32_MAX : SENSORS;
		t->sensors_seq = fuzz_number(in, 1);
		break;
	case 6:
		bytes(in, ring + LIVE_DATA + fuzz_number(in, 2) % RING / 2, RING / 2);
		break;
	default:
		((struct live_sensor *)(table + LIVE_DATA))[fuzz_number(in, 1) % SENSORS].frames =
			fuzz_number(in, 8);
	}
}

static void fill(struct fuzz_input *in)
{
	struct live_ring *r = (struct live_ring *)ring;
	struct live_table *t = (struct live_table *)table;

	*r = (struct live_ring){ .head = fuzz_number(in, 2), .floor = fuzz_number(in, 2) };
	*t = (struct live_table){ .sensors = SENSORS, .generation = fuzz_number(in, 1) };
	bytes(in, table + LIVE_HALVES, 512);
	bytes(in, table + LIVE_HALVES + LIVE_HALF, 512);
	bytes(in, table + LIVE_HALVES + LIVE_HALF - 512, 512); /* up to the half's end */
	bytes(in, table + LIVE_DATA, SENSORS * sizeof(struct live_sensor));
	bytes(in, ring + LIVE_DATA, RING);
}

/* ---- what the viewer wrote ------------------------------------------------------------------- */

static void check_stream(int fd)
{
	off_t len = lseek(fd, 0, SEEK_END);
	uint8_t *data = malloc(len + 1);
	uint32_t interfaces = 0, sections = 0;
	struct block b;

	CHECK(data && pread(fd, data, len, 0) == len);
	for (off_t at = 0; at < len; at += b.len) {
		CHECK(block_read(&b, data + at, len - at) > 0);
		sections += b.type == BLOCK_SECTION;
		CHECK(sections == 1);
		if (b.type == BLOCK_PACKET || b.type == BLOCK_STATISTICS)
			CHECK(b.interface < interfaces);
		interfaces += b.type == BLOCK_INTERFACE;
	}
	free(data);
}

/* ---- the viewer ------------------------------------------------------------------------------ */

static int step(struct take *t, struct reader *r)
{
	struct live_record record;
	const uint8_t *blocks;
	uint64_t missed;
	int got;

	take_directory(t);
	got = reader_next(r, &record, &blocks, &missed);
	if (got == READER_RECORD)
		got = take_record(t, &record, blocks, missed);
	if (got == READER_NOTHING && r->overrun)
		reader_missed(r, take_missed, t);
	return got;
}

static void view(struct fuzz_input *in, struct take *t, const struct source *s)
{
	struct reader r;
	int got = 0;

	CHECK(reader_begin(&r, s, fuzz_number(in, 1) & 1) == 0);
	take_source(t, s);
	stream_begin(&t->stream);
	for (int i = 0; i < STEPS && got >= 0; i++) {
		got = step(t, &r);
		if (in->p < in->end)
			lie(in);
	}
	CHECK(got >= 0 || got == -EBADMSG || got == -ENOMEM);
	take_statistics(t);
	stream_flush(&t->stream);
	reader_end(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const sensors[] = { NULL, "lib", "@g,lib" };
	struct fuzz_input in = { data, data + len };
	struct live_options o = { .sensors = sensors[fuzz_number(&in, 1) % 3] };
	struct source s = { .size = RING, .end = -1 };
	struct take *t = calloc(1, sizeof(*t));
	struct toolbar quiet = { .in = -1, .out = -1 };
	int fd = memfd_create("stream", 0);

	ring = ring ? ring : memory(LIVE_DATA + RING);
	table = table ? table : memory(LIVE_TABLE_BYTES);
	CHECK(t && fd >= 0);
	say_to(&quiet);
	o.channels = fuzz_number(&in, 1) & 1 ? "1,6" : NULL;
	CHECK(take_init(t, &o) == 0);
	t->warns = true;
	t->stream.fd = fd;
	t->stream.stop = &stop;
	s.ring = (struct live_ring *)ring;
	s.table = (struct live_table *)table;
	fill(&in);
	view(&in, t, &s);
	check_stream(fd);
	take_free(t);
	free(t);
	close(fd);
	return 0;
}
