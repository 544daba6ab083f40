// SPDX-License-Identifier: GPL-2.0
/* Slice: see slice.h. */
#include "slice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "wire/channel.h"

#define NONE "none"
#define WORD_MAX 32
#define FLOOR_MOST 10000 /* as in the sensors file */

/* ---- options --------------------------------------------------------------------------------- */

static int refuse(const char *option, const char *word, const char *why)
{
	log_line("%s '%s': %s", option, word, why);
	return -EINVAL;
}

static int add_floor(struct slice *s, const char *word)
{
	bool known = strcmp(word, NONE) != 0;
	char *end = "";
	long floor = known ? strtol(word, &end, 10) : 0;

	if (*end || (known && end == word) || floor < -FLOOR_MOST || floor > FLOOR_MOST)
		return refuse("--floor", word,
			      "a floor is a whole number, from -10000 to 10000, or 'none'");
	s->floors[s->floor_count++] = (struct slice_floor){ known, floor };
	return 0;
}

static int add_channel(struct slice *s, const char *word)
{
	struct radio_channel c = { .mhz = 0 };
	const char *why;

	if (strcmp(word, NONE) && channel_parse(&c, word, strlen(word), &why))
		return refuse("--channel", word, why);
	s->mhz[s->channel_count++] = c.mhz;
	return 0;
}

/* Calls `add` for each word of a list with commas. */
static int each_word(struct slice *s, const char *option, const char *list,
		     int (*add)(struct slice *, const char *))
{
	unsigned int words = 0;
	char word[WORD_MAX];
	int err = 0;

	for (bool more = true; !err && more; words++) {
		size_t len = strcspn(list, ",");

		snprintf(word, sizeof(word), "%.*s", (int)len, list);
		if (words == SLICE_MOST) {
			log_line("%s: has more than %d words", option, SLICE_MOST);
			return -EINVAL;
		}
		err = len < sizeof(word) ? add(s, word) : refuse(option, word, "is too long");
		more = list[len] == ',';
		list += len + more;
	}
	return err;
}

int slice_read_floors(struct slice *s, const char *list)
{
	s->floor_count = 0;
	return each_word(s, "--floor", list, add_floor);
}

int slice_read_channels(struct slice *s, const char *list)
{
	s->channel_count = 0;
	return each_word(s, "--channel", list, add_channel);
}

/* ---- use ------------------------------------------------------------------------------------- */

/* Only all sensors together tell that nobody with a floor has heard a transmission. */
bool slice_is_near(const struct slice *s, struct slice_floor of)
{
	for (unsigned int i = 0; of.known && i < s->floor_count; i++) {
		const struct slice_floor *f = &s->floors[i];

		if (!f->known || llabs((int64_t)f->floor - of.floor) <= s->reach)
			return true;
	}
	return !of.known || !s->floor_count;
}

bool slice_has_floor(const struct slice *s, struct slice_floor of)
{
	for (unsigned int i = 0; i < s->floor_count; i++)
		if (s->floors[i].known == of.known && s->floors[i].floor == of.floor)
			return true;
	return !s->floor_count;
}

bool slice_has(const struct slice *s, struct slice_floor of, uint16_t mhz)
{
	for (unsigned int i = 0; i < s->channel_count; i++)
		if (s->mhz[i] == mhz)
			return slice_has_floor(s, of);
	return !s->channel_count && slice_has_floor(s, of);
}
