// SPDX-License-Identifier: GPL-2.0
/* Radiotap (radiotap.org): the channel field, the fourth one. */
#include "radiotap.h"

#define HEAD 8
#define MORE (1u << 31) /* another word of present fields follows */
#define TSFT (1u << 0)
#define FLAGS (1u << 1)
#define RATE (1u << 2)
#define CHANNEL (1u << 3)

static uint32_t le32(const uint8_t *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

uint16_t radiotap_mhz(const uint8_t *frame, size_t len)
{
	size_t at = HEAD, end = len < HEAD ? 0 : frame[2] | frame[3] << 8;
	uint32_t present = end ? le32(frame + 4) : 0;

	if (end > len || !(present & CHANNEL))
		return 0;
	for (uint32_t word = present; word & MORE; at += 4) {
		if (at + 4 > end)
			return 0;
		word = le32(frame + at);
	}
	if (present & TSFT)
		at = ((at + 7) & ~(size_t)7) + 8;
	at += !!(present & FLAGS) + !!(present & RATE);
	at = (at + 1) & ~(size_t)1;
	return at + 2 <= end ? frame[at] | frame[at + 1] << 8 : 0;
}
