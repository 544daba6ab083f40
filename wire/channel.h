/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A radio channel, and its text. Pure functions. The text is `NUMBER`, `6g:NUMBER` or `MHZ`, with
 * an optional `/WIDTH`: 6, 36/80, 6/40-, 6g:37/160, 2419, 2412/5. Numbers up to 14 are channels at
 * 2.4 GHz, from 183 on at 4.9 GHz, the others at 5 GHz, and with 6g: at 6 GHz. At 5 and 6 GHz the
 * standard fixes the place of wide channels. At 2.4 GHz `40+` and `40-` have the other 20 MHz above
 * and below. At 6 GHz channels of 320 MHz overlap: `320-1` and `320-2`. Numbers and blocks are
 * those of IEEE 802.11-2020, annex E, and 802.11be.
 */
#ifndef WIRE_CHANNEL_H
#define WIRE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHANNEL_TEXT_LEN 16 /* with its end: "6g:193/320-1" */

struct radio_channel {
	uint16_t mhz;	 /* middle of the primary 20 MHz: 2412, 5180, 5975; 0: none */
	uint16_t width;	 /* MHz: 5, 10, 20, 40, 80, 160, 320 */
	uint16_t center; /* MHz, middle of the whole width; mhz at 20 and below */
};

/* Returns its number in its band, or 0. */
unsigned int channel_number(unsigned int mhz);
/* Returns the middle of channel `number` at 2.4, 5 and 4.9 GHz in MHz, or 0. */
unsigned int channel_mhz(unsigned int number);
/* Reads `len` bytes of text. Returns 0, or -EINVAL with the reason in `why`, a static text. */
int channel_parse(struct radio_channel *c, const char *text, size_t len, const char **why);
/* Writes its text, which channel_parse reads as the same channel. */
void channel_text(char out[CHANNEL_TEXT_LEN], const struct radio_channel *c);
/* Whether the standard has such a channel. The request may come from outside. */
bool channel_is_sound(const struct radio_channel *c);

static inline bool channel_is(const struct radio_channel *a, const struct radio_channel *b)
{
	return a->mhz == b->mhz && a->width == b->width && a->center == b->center;
}

#endif
