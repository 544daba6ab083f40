/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A channel of a radio: what it is, and the text of one. Pure. Text is `NUMBER`, `6g:NUMBER` or
 * `MHZ`, and `/WIDTH` behind it: 6, 36/80, 6/40-, 6g:37/160, 2419, 2412/5. A number is that of a
 * channel at 2.4 GHz up to 14, above at 5 GHz, and from 183 on at 4.9 GHz; with 6g: at 6 GHz. Where
 * a wide channel may lie is fixed at 5 and 6 GHz; at 2.4 GHz `40+` and `40-` have the other 20 MHz
 * above and below. At 6 GHz channels of 320 MHz overlap: `320-1` and `320-2`. Numbers and blocks
 * are those of IEEE 802.11-2020, annex E, and 802.11be.
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

/* Its number in its band, 0 where it has none. */
unsigned int channel_number(unsigned int mhz);
/* The middle of channel `number` at 2.4, 5 and 4.9 GHz, 0 where there is none. */
unsigned int channel_mhz(unsigned int number);
/* Reads `len` bytes of text. Returns 0, or -EINVAL with what is wrong in `why`, which stays. */
int channel_parse(struct radio_channel *c, const char *text, size_t len, const char **why);
/* Its text, which reads as the same channel. */
void channel_text(char out[CHANNEL_TEXT_LEN], const struct radio_channel *c);
/* Whether there can be such a channel: as who asks may not be trusted. */
bool channel_is_sound(const struct radio_channel *c);

static inline bool channel_is(const struct radio_channel *a, const struct radio_channel *b)
{
	return a->mhz == b->mhz && a->width == b->width && a->center == b->center;
}

#endif
