// SPDX-License-Identifier: GPL-2.0
/* Air time: see stats_airtime.h. In: untrusted bytes. */
#include "stats_airtime.h"

#include <string.h>

#define HEAD 8
#define MORE (1u << 31) /* another word of present fields follows */
#define OFDM_LEAST 12	/* 6 Mbit/s, in 500 kbit/s; below it, and 11 Mbit/s, is DSSS */
#define RATE_11M 22

enum { FLAGS = 1, RATE = 2, MCS = 19, AMPDU = 20, VHT = 21, HE = 23, FIELDS };
enum { SHORT_PREAMBLE = 2 };
enum { MCS_HAS_BANDWIDTH = 1, MCS_HAS_INDEX = 2, MCS_HAS_GI = 4 }; /* known */
enum { MCS_40 = 1, MCS_SHORT_GI = 4 };				   /* flags */
enum { VHT_HAS_GI = 4, VHT_SHORT_GI = 4 };
enum { HE_FORMAT = 3, HE_HAS_MCS = 1 << 5 };

static const struct {
	uint8_t align, size;
} fields[FIELDS] = {
	{ 8, 8 }, { 1, 1 }, { 1, 1 }, { 2, 4 }, { 2, 2 }, { 1, 1 },  { 1, 1 },	{ 2, 2 },
	{ 2, 2 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 },  { 2, 2 },	{ 2, 2 },
	{ 1, 1 }, { 1, 1 }, { 4, 8 }, { 1, 3 }, { 4, 8 }, { 2, 12 }, { 8, 12 }, { 2, 12 },
};

/* Data bits in a subcarrier, by the MCS's number. */
static const double bits[] = { .5, 1, 1.5, 2, 3, 4, 4.5, 5, 6, 20 / 3., 7.5, 25 / 3. };

#define BITS_COUNT (sizeof(bits) / sizeof(*bits))

static uint16_t le16(const uint8_t *p)
{
	return p[0] | p[1] << 8;
}

static uint32_t le32(const uint8_t *p)
{
	return le16(p) | (uint32_t)le16(p + 2) << 16;
}

static void symbols(struct airtime *a, unsigned int mcs, unsigned int streams,
		    unsigned int subcarriers, double symbol_us, double preamble_us)
{
	if (mcs >= BITS_COUNT || !streams)
		return;
	a->mbit_s = bits[mcs] * streams * subcarriers / symbol_us;
	a->symbol_us = symbol_us;
	a->preamble_us = preamble_us;
	a->service = 22; /* service and tail */
	a->aggregates = true;
}

static void legacy(struct airtime *a, uint8_t rate, bool is_short)
{
	if (!rate || a->symbol_us > 0)
		return;
	a->mbit_s = rate / 2.;
	if (rate < OFDM_LEAST || rate == RATE_11M) {
		a->preamble_us = is_short && rate > 2 ? 96 : 192;
		return;
	}
	a->preamble_us = 20;
	a->symbol_us = 4;
	a->service = 22;
}

static void ht(struct airtime *a, const uint8_t *p)
{
	unsigned int streams = p[2] / 8 + 1, training = streams == 3 ? 4 : streams;
	bool wide = p[0] & MCS_HAS_BANDWIDTH && (p[1] & 3) == MCS_40;
	bool is_short = p[0] & MCS_HAS_GI && p[1] & MCS_SHORT_GI;

	if (p[0] & MCS_HAS_INDEX && p[2] < 32)
		symbols(a, p[2] % 8, streams, wide ? 108 : 52, is_short ? 3.6 : 4,
			32 + 4 * training);
}

/* The first user's. */
static void vht(struct airtime *a, const uint8_t *p)
{
	static const uint16_t subcarriers[] = { 52, 108, 234, 468 };
	unsigned int streams = p[4] & 15, bandwidth = p[3] & 31;
	/* 20 MHz; 40 and its halves; 80 and its parts; 160 and its parts. */
	unsigned int width = !bandwidth ? 0 : bandwidth < 4 ? 1 : bandwidth < 11 ? 2 : 3;
	bool is_short = le16(p) & VHT_HAS_GI && p[2] & VHT_SHORT_GI;

	symbols(a, p[4] >> 4, streams, subcarriers[width], is_short ? 3.6 : 4, 36 + 4 * streams);
}

static void he(struct airtime *a, const uint8_t *p)
{
	static const uint16_t subcarriers[] = { 234, 468, 980,	1960, 24, 48, 102, 234,
						468, 980, 1960, 1960, 0,  0,  0,   0 };
	static const double guard[] = { .8, 1.6, 3.2, 3.2 };
	uint16_t first = le16(p), third = le16(p + 4), fifth = le16(p + 8), sixth = le16(p + 10);
	unsigned int streams = sixth & 15;

	if (first & HE_HAS_MCS)
		symbols(a, third >> 8 & 15, streams ?: 1, subcarriers[fifth & 15],
			12.8 + guard[fifth >> 4 & 3], 36 + 8. * (streams ?: 1));
	a->service = 22;
}

static void take(struct airtime *a, int field, const uint8_t *p)
{
	if (field == MCS)
		ht(a, p);
	else if (field == VHT)
		vht(a, p);
	else if (field == HE)
		he(a, p);
	else if (field == AMPDU) {
		a->aggregated = true;
		a->aggregate = le32(p);
	}
}

void airtime_read(struct airtime *a, const uint8_t *frame, size_t len)
{
	uint8_t rate = 0, flags = 0;
	uint32_t present;
	size_t at = HEAD, end;

	*a = (struct airtime){ .mbit_s = 0 };
	if (len < HEAD)
		return;
	end = le16(frame + 2) < len ? le16(frame + 2) : len;
	present = le32(frame + 4);
	for (uint32_t word = present; word & MORE; at += 4) {
		if (at + 4 > end)
			return;
		word = le32(frame + at);
	}
	for (int f = 0; f < FIELDS; f++) {
		if (!(present & 1u << f))
			continue;
		at = (at + fields[f].align - 1) & ~(size_t)(fields[f].align - 1);
		if (at + fields[f].size > end)
			break;
		if (f == FLAGS)
			flags = frame[at];
		else if (f == RATE)
			rate = frame[at];
		else
			take(a, f, frame + at);
		at += fields[f].size;
	}
	legacy(a, rate, flags & SHORT_PREAMBLE);
}

/* Without libm; the numbers are far below 2^53. */
static double rounded_up(double v)
{
	double down = (double)(uint64_t)v;

	return v - down > 1e-9 ? down + 1 : down;
}

double airtime_us(const struct airtime *a, uint32_t bytes, bool preamble)
{
	double us;

	if (a->mbit_s <= 0)
		return 0;
	us = (8. * bytes + a->service) / a->mbit_s;
	if (a->symbol_us > 0 && preamble) /* an A-MPDU's subframes fill its symbols together */
		us = rounded_up(us / a->symbol_us) * a->symbol_us;
	return us + (preamble ? a->preamble_us : 0);
}
