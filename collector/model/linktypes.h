/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Link types that a sensor may send, as its line in the sensors file lists them:
 *
 *     linktypes=127,1     numbers (https://www.tcpdump.org/linktypes.html) or names, up to 16
 *     linktypes=default   those of saluki/linktype.h, as without this word
 *     linktypes=any       all
 *
 * The collector puts the frames of all sensors into one file. A program that meets one frame that
 * it cannot read may stop there, so that a sensor sends only what its operator expects of it.
 */
#ifndef COLLECTOR_MODEL_LINKTYPES_H
#define COLLECTOR_MODEL_LINKTYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINKTYPES_MAX 16
#define LINKTYPES_TEXT_LEN (sizeof("linktypes=default") + (LINKTYPES_MAX + 1) * 6)

/* Zeroed, it is the default. Unused numbers are 0, so that memcmp compares two of them. */
struct linktypes {
	bool any;
	bool listed;   /* a line has the word; otherwise it is the default */
	bool defaults; /* "default" is in the list */
	uint8_t count;
	uint16_t list[LINKTYPES_MAX];
};

/* Reads what is behind "linktypes=", which is changed. Returns what is wrong with it, or NULL. */
const char *linktypes_read(struct linktypes *l, char *text);
bool linktypes_has(const struct linktypes *l, uint16_t linktype);
/* Writes the word that a line needs for this type to be allowed with those that are already. */
void linktypes_entry(char text[LINKTYPES_TEXT_LEN], const struct linktypes *l, uint16_t linktype);
/* The first type of 802.11 that is allowed, -1: none is. */
int linktypes_80211(const struct linktypes *l);

#endif
