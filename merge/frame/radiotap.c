// SPDX-License-Identifier: GPL-2.0
/* Radiotap: see radiotap.h. In: untrusted bytes. */
#include "radiotap.h"

#include <errno.h>
#include <string.h>

#define HEAD 8
#define MORE (1u << 31) /* another word of present fields follows */

enum { TSFT, FLAGS, RATE, CHANNEL, FHSS, SIGNAL, FIELDS };
enum { FLAG_FCS = 0x10, FLAG_PADDED = 0x20, FLAG_BAD_FCS = 0x40 };

static const struct {
	uint8_t align, size;
} fields[FIELDS] = {
	[TSFT] = { 8, 8 },    [FLAGS] = { 1, 1 }, [RATE] = { 1, 1 },
	[CHANNEL] = { 2, 4 }, [FHSS] = { 2, 2 },  [SIGNAL] = { 1, 1 },
};

static uint32_t le32(const uint8_t *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static void take(struct radiotap *r, int field, const uint8_t *p)
{
	switch (field) {
	case TSFT:
		r->has_tsft = true;
		r->tsft_us = le32(p) | (uint64_t)le32(p + 4) << 32;
		break;
	case FLAGS:
		r->has_fcs = *p & FLAG_FCS;
		r->padded = *p & FLAG_PADDED;
		r->bad_fcs = *p & FLAG_BAD_FCS;
		break;
	case RATE:
		r->rate = *p;
		break;
	case CHANNEL:
		r->mhz = p[0] | p[1] << 8;
		break;
	case SIGNAL:
		r->signal = (int8_t)*p;
		break;
	}
}

int radiotap_read(struct radiotap *r, const uint8_t *frame, size_t len)
{
	size_t at = HEAD;
	uint32_t present;

	memset(r, 0, sizeof(*r));
	if (len < HEAD || frame[0])
		return -EBADMSG;
	r->len = frame[2] | frame[3] << 8;
	present = le32(frame + 4);
	if (r->len < HEAD || r->len > len)
		return -EBADMSG;
	for (uint32_t word = present; word & MORE; at += 4) {
		if (at + 4 > r->len)
			return -EBADMSG;
		word = le32(frame + at);
	}
	for (int f = 0; f < FIELDS; f++) {
		if (!(present & 1u << f))
			continue;
		at = (at + fields[f].align - 1) & ~(size_t)(fields[f].align - 1);
		if (at + fields[f].size > r->len)
			return -EBADMSG;
		take(r, f, frame + at);
		at += fields[f].size;
	}
	return 0;
}
