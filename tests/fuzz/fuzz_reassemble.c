// SPDX-License-Identifier: GPL-2.0
/* links: collector/reassemble.o */
/*
 * Reassembly: pieces that overtake one another, come twice, lie about their combo's length, time
 * that passes, and another session of the same run. A combo's bytes follow from its number and
 * length, so that it shows if what comes out was put together wrongly. Always holds: numbers only
 * rise, only whole combos come out, and a bounded number of them is held.
 */
#include "collector/reassemble.h"
#include "fuzz.h"
#include "wire/combo.h"

struct state {
	struct reassembly r;
	uint64_t next; /* no number below this may come out any more */
	uint64_t now_ns;
};

static uint8_t content(uint32_t combo, uint32_t total, size_t at)
{
	return combo * 31 + total * 7 + at * 13 + at / 251;
}

static void take_all(struct state *s)
{
	const uint8_t *data;
	uint64_t number;
	size_t len;

	while ((data = reassemble_take(&s->r, &len, &number))) {
		CHECK(number >= s->next && len > 0 && len <= COMBO_WIRE_MAX);
		for (size_t i = 0; i < len; i++)
			CHECK(data[i] == content(number & 0xffffff, len, i));
		s->next = number + 1;
		reassemble_done(&s->r);
	}
	CHECK(s->r.whole <= s->r.held && s->r.held <= REASSEMBLE_SLOTS);
}

/* As it comes from the wire: piece_read has the first word on what a piece may be. */
static void add(struct state *s, uint32_t combo, uint16_t offset, uint16_t total, size_t len)
{
	uint8_t *message = malloc(PIECE_HEADER_LEN + len);
	enum reassemble_result got;
	struct piece p;

	piece_header_write(message, combo, offset, total);
	for (size_t i = 0; i < len; i++)
		message[PIECE_HEADER_LEN + i] = content(combo & 0xffffff, total, offset + i);
	if (piece_read(&p, message, PIECE_HEADER_LEN + len) == 0) {
		for (int tries = 0;; tries++) {
			got = reassemble_add(&s->r, &p, s->now_ns);
			if (got != REASSEMBLE_FULL)
				break;
			CHECK(tries < 2 * REASSEMBLE_SLOTS);
			take_all(s);
		}
		CHECK(got != REASSEMBLE_TAKEN || total <= COMBO_WIRE_MAX);
	}
	free(message);
	take_all(s);
}

static void step(struct state *s, struct fuzz_input *in)
{
	uint8_t what = fuzz_number(in, 1);
	uint32_t combo = s->next + (int8_t)fuzz_number(in, 1);
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
		while (reassemble_tick(&s->r, s->now_ns, what & 8))
			take_all(s);
		return;
	case 7:
		reassemble_resume(&s->r);
		CHECK(s->r.held == s->r.whole);
		return;
	case 2: /* from far away */
		combo = fuzz_number(in, 3);
		break;
	}
	add(s, combo, offset, total, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_input in = { data, data + len };
	struct state s = { .now_ns = 1 };

	while (in.p < in.end)
		step(&s, &in);
	while (reassemble_tick(&s.r, s.now_ns, true))
		take_all(&s);
	CHECK(s.r.held == 0);
	reassemble_free(&s.r);
	return 0;
}
