/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fields: the few places of radiotap and 802.11 headers that differ in every frame: clocks and
 * counters. Where they are follows from bytes that are no such field, so that both ends of a combo
 * find the same; dot11_templates.h is what they are found for.
 */
#ifndef WIRE_FIELDS_H
#define WIRE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIELDS_SIGNALS 6
#define FIELDS_WORDS_MAX 6 /* of radiotap present words; headers with more are not looked into */
#define FIELDS_LAYOUTS 4   /* a power of two */
#define FIELDS_SLOTS 128   /* of a hash of addresses */

/* Where fields are in a radiotap header, 0: it has none. */
struct radiotap_places {
	uint8_t end; /* of the header */
	uint8_t flags, clock, stamp, aggregate, signal_count, signals[FIELDS_SIGNALS];
};

/* The places in headers that begin with `head`: length and present words say it all, and a
 * card has but a few different ones. */
struct radiotap_layout {
	uint8_t head_len, head[4 + 4 * FIELDS_WORDS_MAX];
	struct radiotap_places places;
};

struct radiotap_layouts {
	struct radiotap_layout list[FIELDS_LAYOUTS];
};

/* Where the fields of a frame are, 0: it has none; and whose they are. */
struct places {
	struct radiotap_places radio;
	uint16_t sequence, beacon, packet;
	uint8_t retry;			/* 0 or 1 */
	uint8_t station, counter, pair; /* slots, once fields_slots was asked */
};

/* The fields of a frame; or, between the ends, their differences from what was expected. */
struct fields {
	uint64_t clock, stamp, beacon, packet;
	uint32_t aggregate, cut;
	uint16_t sequence;
	uint8_t signals[FIELDS_SIGNALS];
};

/* Fills in where the fields are. `layouts` remembers headers from one frame to the next. Returns
 * where the 802.11 header begins, `len` where there is none. */
uint32_t fields_locate(struct places *m, struct radiotap_layouts *layouts, const uint8_t *bytes,
		       uint32_t len, uint16_t linktype);
/* Fills in the slots, from `len` bytes of 802.11 header. */
void fields_slots(struct places *m, const uint8_t *mac, uint32_t len);
/* Takes the fields out of a frame, leaving zeros; and puts them back. */
void fields_take(const struct places *m, struct fields *d, uint8_t *frame);
void fields_put(const struct places *m, const struct fields *d, uint8_t *frame);

#endif
