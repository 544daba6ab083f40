// SPDX-License-Identifier: GPL-2.0
/* Channels: see channel.h. */
#include "channel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MHZ_MIN 1000
#define MHZ_MAX 7250

#define LOW_FIRST 2412 /* at 2.4 GHz: with 20 MHz above and below for 40+ and 40- */
#define LOW_LAST 2472
#define FIVE 5000 /* number N is at FIVE + 5 * N, */
#define SIX 5950  /* and at 6 GHz SIX + 5 * N */
#define SIX_BEGINS 5925
#define SIX_ODD 5935 /* number 2, below all others */

unsigned int channel_number(unsigned int mhz)
{
	if (mhz == 2484)
		return 14;
	if (mhz == SIX_ODD)
		return 2;
	if (mhz % 5 == 2)
		return mhz >= LOW_FIRST && mhz <= LOW_LAST ? (mhz - 2407) / 5 : 0;
	if (mhz % 5)
		return 0;
	if (mhz >= 4915 && mhz <= 4980)
		return (mhz - 4000) / 5;
	if (mhz >= FIVE + 5 * 15 && mhz <= FIVE + 5 * 182)
		return (mhz - FIVE) / 5;
	if (mhz <= SIX || mhz > SIX + 5 * 233 || mhz == SIX + 5 * 2) /* whose number is taken */
		return 0;
	return (mhz - SIX) / 5;
}

unsigned int channel_mhz(unsigned int number)
{
	if (number == 0 || number > 196)
		return 0;
	if (number <= 14)
		return number == 14 ? 2484 : 2407 + 5 * number;
	return (number >= 183 ? 4000 : FIVE) + 5 * number;
}

/* ---- wide channels -----------------------------------------------------------------------------
 */

/* Runs of channels 20 MHz apart, which wide ones divide: their first and last one's MHz. */
static const struct {
	uint16_t first, last;
} runs[] = {
	{ FIVE + 5 * 36, FIVE + 5 * 64 },
	{ FIVE + 5 * 100, FIVE + 5 * 144 },
	{ FIVE + 5 * 149, FIVE + 5 * 177 },
	{ SIX + 5 * 1, SIX + 5 * 233 },
};

/* Returns the middle of the block of this width that contains `mhz`, or 0. Blocks begin `shift`
 * after the run's first channel. */
static unsigned int block(unsigned int mhz, unsigned int width, unsigned int shift)
{
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		unsigned int first = runs[i].first + shift, begin;

		if (mhz < first || mhz > runs[i].last || (mhz - first) % 20)
			continue;
		begin = mhz - (mhz - first) % width;
		return begin + width - 20 <= runs[i].last ? begin + width / 2 - 10 : 0;
	}
	return 0;
}

/* Chooses 1 or 2 of the two overlapping blocks at 6 GHz; 0: the existing one, or the first of
 * two. */
static unsigned int block_320(unsigned int mhz, unsigned int which)
{
	unsigned int one, two;

	if (mhz < SIX_BEGINS)
		return 0;
	one = block(mhz, 320, 0);
	two = block(mhz, 320, 160);
	return which == 1 ? one : which == 2 ? two : one ?: two;
}

/* At 2.4 GHz, `sign` is '+', '-' or 0. 0 takes the only possible one. Returns 0 if there are none
 * or two. */
static unsigned int low_40(unsigned int mhz, char sign)
{
	bool above = mhz + 20 <= LOW_LAST, below = mhz >= LOW_FIRST + 20;

	if (sign ? sign == '+' : above && !below)
		return above ? mhz + 10 : 0;
	if (sign ? sign == '-' : below && !above)
		return below ? mhz - 10 : 0;
	return 0;
}

static bool is_low(unsigned int mhz)
{
	return mhz >= LOW_FIRST && mhz <= LOW_LAST && channel_number(mhz);
}

bool channel_is_sound(const struct radio_channel *c)
{
	if (c->mhz < MHZ_MIN || c->mhz > MHZ_MAX)
		return false;
	switch (c->width) {
	case 5:
	case 10:
	case 20:
		return c->center == c->mhz;
	case 40:
		if (is_low(c->mhz))
			return c->center && (c->center == low_40(c->mhz, '+') ||
					     c->center == low_40(c->mhz, '-'));
		/* fall through */
	case 80:
	case 160:
		return c->center && c->center == block(c->mhz, c->width, 0);
	case 320:
		return c->center &&
		       (c->center == block_320(c->mhz, 1) || c->center == block_320(c->mhz, 2));
	default:
		return false;
	}
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Reads a number, at most 9999. Returns its end, or NULL. */
static const char *number(const char *at, const char *end, unsigned int *out)
{
	const char *begin = at;

	for (*out = 0; at < end && *at >= '0' && *at <= '9' && at - begin < 4; at++)
		*out = *out * 10 + (*at - '0');
	return at > begin ? at : NULL;
}

static int refuse(const char **why, const char *text)
{
	*why = text;
	return -EINVAL;
}

/* Reads the suffix after the width: '+' or '-' at 40, '1' or '2' at 320, 0 for none. */
static int widen(struct radio_channel *c, char rest, const char **why)
{
	if (c->width == 40 && is_low(c->mhz)) {
		c->center = low_40(c->mhz, rest);
		if (!rest && !c->center)
			return refuse(why, "give 40+ or 40-: the other 20 MHz above, or below");
	} else if (c->width == 320) {
		c->center = block_320(c->mhz, rest ? rest - '0' : 0);
	} else if (!rest) {
		c->center = c->width <= 20 ? c->mhz : block(c->mhz, c->width, 0);
	}
	return channel_is_sound(c) ? 0 : refuse(why, "no channel of this width is there");
}

/* Reads the width after the slash. Returns 0, or -EINVAL. */
static int width(struct radio_channel *c, const char *at, const char *end, char *rest)
{
	static const uint16_t widths[] = { 5, 10, 20, 40, 80, 160, 320 };
	unsigned int n;

	at = number(at, end, &n);
	for (size_t i = 0; at && i < sizeof(widths) / sizeof(widths[0]); i++)
		if (n == widths[i])
			c->width = n;
	if (c->width == 0)
		return -EINVAL;
	if (c->width == 40 && end - at == 1 && (*at == '+' || *at == '-'))
		*rest = *at++;
	else if (c->width == 320 && end - at == 2 && *at == '-' && (at[1] == '1' || at[1] == '2'))
		*rest = at[1], at += 2;
	return at == end ? 0 : -EINVAL;
}

int channel_parse(struct radio_channel *c, const char *text, size_t len, const char **why)
{
	static const char none[] = "a channel is a number from 1 to 196, 6g:1 to 6g:233, or MHz "
				   "from 1000 to 7250";
	const char *end = text + len;
	bool six = len > 3 && !strncmp(text, "6g:", 3);
	char rest = 0;
	unsigned int n;
	const char *at = number(six ? text + 3 : text, end, &n);

	if (!at || (at < end && *at != '/'))
		return refuse(why, none);
	if (six)
		n = n == 2 ? SIX_ODD : n >= 1 && n <= 233 ? SIX + 5 * n : 0;
	else if (n < MHZ_MIN)
		n = channel_mhz(n);
	if (n < MHZ_MIN || n > MHZ_MAX)
		return refuse(why, none);
	*c = (struct radio_channel){ .mhz = n, .width = at == end ? 20 : 0 };
	if (at < end && width(c, at + 1, end, &rest))
		return refuse(why, "the width must be 5, 10, 20, 40, 80, 160 or 320 MHz; 40+ or "
				   "40- at 2.4 GHz, 320-1 or 320-2 at 6 GHz");
	return widen(c, rest, why);
}

void channel_text(char out[CHANNEL_TEXT_LEN], const struct radio_channel *c)
{
	unsigned int n = channel_number(c->mhz);
	const char *behind = "";

	if (c->width == 40 && is_low(c->mhz))
		behind = c->center > c->mhz ? "+" : "-";
	else if (c->width == 320 && c->center != block_320(c->mhz, 0))
		behind = "-2";
	n = snprintf(out, CHANNEL_TEXT_LEN, "%s%u", n && c->mhz >= SIX_BEGINS ? "6g:" : "",
		     n ?: c->mhz);
	if (c->width != 20)
		snprintf(out + n, CHANNEL_TEXT_LEN - n, "/%u%s", c->width, behind);
}
