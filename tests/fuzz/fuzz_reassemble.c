// SPDX-License-Identifier: GPL-2.0
/* links: collector/combo/reassemble.o collector/combo/reassemble_pool.o */
/*
 * Reassembly of two sensors' pieces in one small pool: of any lengths, reordered, repeated, with
 * false combo lengths, and with floors, new sessions and passing time. A combo's bytes follow from
 * its count and length, so a wrong result shows. Always holds: counts only rise, only whole combos
 * come out, none of a past count, and the pool stays within its limit and is empty at the end.
 */
#include "collector/combo/reassemble.h"
#include "fuzz.h"
#include "wire/spool.h"

#define SENSORS 2
#define POOL_LIMIT (128 * 1024)

struct state {
	struct reassemble_pool pool;
	struct sensor_state {
		struct reassembly r;
		uint64_t next; /* no count below this may come out */
	} sensors[SENSORS];
	uint64_t now_ns;
};

static uint8_t content(uint32_t combo, uint32_t total, size_t at)
{
	return combo * 31 + total * 7 + at * 13 + at / 251;
}

static void take_all(struct state *s, struct sensor_state *one)
{
	const uint8_t *data;
	uint64_t count;
	size_t len;

	while ((data = reassemble_take(&one->r, &s->pool, &len, &count))) {
		CHECK(count >= one->next && len > 0 && len <= SPOOL_RECORD_MAX);
		for (size_t i = 0; i < len; i++)
			CHECK(data[i] == content(count & 0xffffff, len, i));
		one->next = count + 1;
		reassemble_done(&one->r, &s->pool);
		CHECK(one->r.next == count + 1);
	}
	CHECK(one->r.next >= one->r.floor && one->r.next >= one->next);
	CHECK(one->r.whole <= one->r.held && one->r.held < REASSEMBLE_SLOTS + 1);
	CHECK((unsigned int)__builtin_popcountll(reassemble_held(&one->r)) == one->r.whole);
	CHECK(s->pool.used <= s->pool.limit && !one->r.held == !one->r.share);
}

/* Checks that each sensor's share is right, and in the list for its size. */
static void check_shares(const struct reassemble_pool *pool)
{
	size_t used = 0;

	for (size_t class = 0; class < REASSEMBLE_POOL_CLASSES; class ++)
		for (const struct reassemble_pool_share *h = pool->classes[class]; h; h = h->next) {
			CHECK(h->owner->share == h && h->size / REASSEMBLE_POOL_CLASS == class);
			used += h->size;
		}
	CHECK(used == pool->used);
}

/* As from the wire: piece_read decides first whether a piece is valid. */
static void add(struct state *s, struct sensor_state *one, uint32_t combo, uint16_t offset,
		uint16_t total, size_t len)
{
	uint8_t *message = malloc(PIECE_HEADER_LEN + len);
	enum reassemble_result got;
	struct piece p;

	piece_header_write(message, combo, offset, total);
	for (size_t i = 0; i < len; i++)
		message[PIECE_HEADER_LEN + i] = content(combo & 0xffffff, total, offset + i);
	if (piece_read(&p, message, PIECE_HEADER_LEN + len) == 0) {
		got = reassemble_add(&one->r, &s->pool, &p, s->now_ns);
		CHECK(got != REASSEMBLE_TAKEN || total <= SPOOL_RECORD_MAX);
		CHECK((got == REASSEMBLE_BAD) == (total > SPOOL_RECORD_MAX));
	}
	free(message);
	take_all(s, one);
	check_shares(&s->pool);
}

static void step(struct state *s, struct fuzz_input *in)
{
	uint8_t what = fuzz_number(in, 1);
	struct sensor_state *one = &s->sensors[what >> 3 & 1];
	uint32_t combo = one->r.next + (int8_t)fuzz_number(in, 1);
	uint16_t total = fuzz_number(in, 2), offset = (what >> 4) * PIECE_DATA_MAX;
	size_t len = total > offset ? total - offset : 0;

	if (len > PIECE_DATA_MAX)
		len = PIECE_DATA_MAX;
	switch (what & 7) {
	case 0: /* an odd one */
		len = fuzz_number(in, 2) % (PIECE_DATA_MAX + 1);
		offset = fuzz_number(in, 2);
		break;
	case 1:
		s->now_ns += fuzz_number(in, 2) * 10000000ULL;
		return;
	case 2: /* from far away */
		combo = fuzz_number(in, 3);
		break;
	case 3: /* of any length */
		offset = total ? fuzz_number(in, 2) % total & ~7 : 0;
		len = (1 + fuzz_number(in, 1) % 8) * PIECE_UNIT;
		len = len > (size_t)total - offset ? (size_t)total - offset : len;
		break;
	case 6:
		reassemble_floor(&one->r, one->r.next + (int64_t)(int16_t)fuzz_number(in, 2));
		take_all(s, one);
		return;
	case 7:
		reassemble_resume(&one->r, &s->pool);
		CHECK(one->r.held == one->r.whole);
		return;
	}
	add(s, one, combo, offset, total, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	struct state s = { .now_ns = 1, .pool.limit = POOL_LIMIT };

	while (in.p < in.end)
		step(&s, &in);
	for (int i = 0; i < SENSORS; i++) {
		reassemble_floor(&s.sensors[i].r, s.sensors[i].r.next + REASSEMBLE_SLOTS);
		take_all(&s, &s.sensors[i]);
		CHECK(s.sensors[i].r.held == 0);
		reassemble_free(&s.sensors[i].r, &s.pool);
	}
	CHECK(s.pool.used == 0 && !s.pool.due.oldest && !s.pool.ahead.oldest);
	return 0;
}
