/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Link types: those that a sensor may send, listed in its line of the sensors file:
 *
 *     linktypes=127,1     numbers (https://www.tcpdump.org/linktypes.html) or names, up to 16
 *     linktypes=default   those of saluki/linktype.h, as without this word
 *     linktypes=any       all
 *
 * The collector writes the frames of all sensors to one file. A program may stop at a frame whose
 * type it cannot read, so a sensor may send only the types that its operator expects.
 */
#ifndef COLLECTOR_MODEL_LINKTYPES_H
#define COLLECTOR_MODEL_LINKTYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINKTYPES_MAX 16
#define LINKTYPES_TEXT_LEN (sizeof("linktypes=default") + (LINKTYPES_MAX + 1) * 6)

/* All zeros is the default. Unused numbers are 0, so that memcmp() can compare lists. */
struct linktypes {
	bool any;
	bool listed;   /* the line has the word; otherwise the default */
	bool defaults; /* "default" is in the list */
	uint8_t count;
	uint16_t list[LINKTYPES_MAX];
};

/* Reads the text after "linktypes=", and modifies it. Returns NULL, or the mistake. */
const char *linktypes_read(struct linktypes *l, char *text);
bool linktypes_has(const struct linktypes *l, uint16_t linktype);
/* Writes the word of a sensor's line that allows the same types. */
void linktypes_word(char text[LINKTYPES_TEXT_LEN], const struct linktypes *l);
/* Writes the word for a sensor's line that allows this type besides those of `l`. */
void linktypes_entry(char text[LINKTYPES_TEXT_LEN], const struct linktypes *l, uint16_t linktype);
/* Returns the first allowed 802.11 type; -1: none. */
int linktypes_80211(const struct linktypes *l);

#endif
