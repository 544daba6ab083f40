// SPDX-License-Identifier: GPL-2.0
/*
 * Tails: see tails.h. In: tails at the sensor, columns from the wire at the collector. Always
 * holds: the collector checks each place, number and length before it uses them.
 */
#include "tails.h"

#include <string.h>

#include "columns.h"

/* 32 random values of 8 bits have 30 different ones on average, and fewer than 26 once in 1,000
 * times. Of 16 random bits, fewer than 3 or more than 13 are set once in 240 times. */
#define SAMPLES 16
#define DIFFERENT_MIN 26
#define HIGH_MIN 3
#define HIGH_MAX (SAMPLES - HIGH_MIN)

void tails_reset(struct tails *t)
{
	memset(t, 0, offsetof(struct tails, list));
}

/* ---- sensor ---------------------------------------------------------------------------------- */

/* Whether eight bytes may be text. */
static bool is_ascii(const uint8_t *bytes)
{
	return !(load_word(bytes) & 0x8080808080808080);
}

/* Whether zstd would not make a tail smaller, from a sample. The counts of highest bits exclude
 * text. The samples and their differences from the next bytes exclude bytes that repeat, are small,
 * or count up. As the step is odd, the sample has all bytes of numbers of two or four bytes. */
static bool looks_random(const uint8_t *bytes, size_t len)
{
	size_t step = ((len - 1) / SAMPLES - 1) | 1;
	uint32_t different = 0, high = 0;
	uint8_t is_new[256];

	if (is_ascii(bytes + len / 2) && is_ascii(bytes + len - sizeof(uint64_t)))
		return false;
	memset(is_new, 1, sizeof(is_new));
	for (const uint8_t *p = bytes; p < bytes + SAMPLES * step; p += step) {
		uint8_t value = p[0], difference = p[1] - p[0];

		high += value >> 7;
		different += is_new[value];
		is_new[value] = 0;
		different += is_new[difference];
		is_new[difference] = 0;
	}
	return different >= DIFFERENT_MIN && high >= HIGH_MIN && high <= HIGH_MAX;
}

/* Returns how many random tails back the same tail is, or 0. Then this tail gets its bucket. */
static uint32_t find_repeated(struct tails *t, const uint8_t *bytes, size_t len)
{
	uint16_t *bucket = &t->buckets[load_32(bytes + len / 2) * 0x9e3779b1u >> 24];
	uint32_t back = t->random + 1 - *bucket, i = *bucket - 1;

	if (*bucket && back <= TAILS_BACK && t->list[i % (TAILS_BACK + 1)].len == len &&
	    memcmp(t->list[i % (TAILS_BACK + 1)].at, bytes, len) == 0)
		return back;
	*bucket = t->random + 1;
	return 0;
}

/* Notes the newest random tail. */
static void note_random(struct tails *t, const uint8_t *at, size_t len)
{
	t->list[t->random % (TAILS_BACK + 1)].at = at;
	t->list[t->random % (TAILS_BACK + 1)].len = len;
	t->random++;
}

static void put_place(struct combo *c, uint32_t place)
{
	uint32_t i = c->templates->tails.count++ % TAILS_PLACES;

	if (i == 0)
		c->columns_len += put_byte(c, COMBO_PLACES, 0);
	c->columns[COMBO_PLACES].end[-1] |= place << i * TAILS_BITS;
}

static void put_random(struct combo *c, const uint8_t *bytes, size_t len)
{
	uint8_t *to = c->columns[COMBO_RANDOMS].end;

	note_random(&c->templates->tails, to, len);
	memcpy(to, bytes, len);
	c->columns[COMBO_RANDOMS].end = to + len;
	c->columns_len += len;
}

bool tails_put_long(struct combo *c, const uint8_t *bytes, size_t len)
{
	struct tails *t = &c->templates->tails;
	uint32_t back;

	if (!c->has_tails)
		tails_reset(t);
	c->has_tails = true;
	if (!looks_random(bytes, len)) {
		put_place(c, TAILS_BYTES);
		return false;
	}
	c->has_randoms = true;
	back = find_repeated(t, bytes, len);
	put_place(c, back ? TAILS_REPEATED : TAILS_RANDOM);
	if (back)
		c->columns_len += put_byte(c, COMBO_REFERENCES, back);
	else
		put_random(c, bytes, len);
	return true;
}

/* ---- collector ------------------------------------------------------------------------------- */

static int take_place(struct combo_reader *r, uint8_t *place)
{
	struct tails *t = &r->templates.tails;

	if (t->count++ % TAILS_PLACES == 0 && take_byte(&r->cursor, COMBO_PLACES, &t->places))
		return -EBADMSG;
	*place = t->places & ((1 << TAILS_BITS) - 1);
	t->places >>= TAILS_BITS;
	return 0;
}

static int take_random(struct combo_reader *r, size_t len, const uint8_t **from)
{
	if (take_span(&r->cursor.columns[COMBO_RANDOMS], len, from))
		return -EBADMSG;
	note_random(&r->templates.tails, *from, len);
	return 0;
}

static int take_repeated(struct combo_reader *r, size_t len, const uint8_t **from)
{
	const struct tails *t = &r->templates.tails;
	uint8_t back;
	uint32_t i;

	if (take_byte(&r->cursor, COMBO_REFERENCES, &back) || !back || back > t->random)
		return -EBADMSG;
	i = (t->random - back) % (TAILS_BACK + 1);
	*from = t->list[i].at;
	return t->list[i].len == len ? 0 : -EBADMSG;
}

int tails_take(struct combo_reader *r, size_t len, const uint8_t **from)
{
	uint8_t place = TAILS_BYTES;

	if (len >= TAILS_MIN && r->has_tails && take_place(r, &place))
		return -EBADMSG;
	switch (place) {
	case TAILS_BYTES:
		return take_span(&r->cursor.data, len, from);
	case TAILS_RANDOM:
		return take_random(r, len, from);
	case TAILS_REPEATED:
		return take_repeated(r, len, from);
	default:
		return -EBADMSG;
	}
}
