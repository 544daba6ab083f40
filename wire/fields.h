/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fields: finds the few fields of radiotap and 802.11 headers that differ in every frame, clocks
 * and counters, for dot11_templates.h. Only bytes outside these fields decide where the fields are,
 * so both ends of a combo find the same.
 */
#ifndef WIRE_FIELDS_H
#define WIRE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIELDS_SIGNALS 6
#define FIELDS_WORDS_MAX 6 /* radiotap present words; longer headers are not parsed */
#define FIELDS_LAYOUTS 4   /* a power of two */
#define FIELDS_SLOTS 128   /* entries per hash of addresses */

/* Where fields are in a radiotap header, 0: it has none. */
struct radiotap_places {
	uint8_t end; /* of the header */
	uint8_t flags, clock, stamp, aggregate, signal_count, signals[FIELDS_SIGNALS];
};

/* The fields of headers that begin with `head`. Length and present words determine them, and a card
 * has only a few different ones. */
struct radiotap_layout {
	uint8_t head_len, head[4 + 4 * FIELDS_WORDS_MAX];
	struct radiotap_places places;
};

struct radiotap_layouts {
	struct radiotap_layout list[FIELDS_LAYOUTS];
};

/* Offsets of a frame's fields, 0: none; and the slots they belong to. */
struct places {
	struct radiotap_places radio;
	uint16_t sequence, beacon, packet;
	uint8_t retry;			/* 0 or 1 */
	uint8_t station, counter, pair; /* slots, set by fields_slots */
};

/* The values of a frame's fields; on the wire, their differences from the predictions. */
struct fields {
	uint64_t clock, stamp, beacon, packet;
	uint32_t aggregate, cut;
	uint16_t sequence;
	uint8_t signals[FIELDS_SIGNALS];
};

/* Fills in the fields' offsets. `layouts` caches radiotap headers across frames. Returns the offset
 * of the 802.11 header, or `len`. */
uint32_t fields_locate(struct places *m, struct radiotap_layouts *layouts, const uint8_t *bytes,
		       uint32_t len, uint16_t linktype);
/* Fills in the slots, from `len` bytes of 802.11 header. */
void fields_slots(struct places *m, const uint8_t *mac, uint32_t len);
/* Moves the fields out of a frame, leaving zeros; and back. */
void fields_take(const struct places *m, struct fields *d, uint8_t *frame);
void fields_put(const struct places *m, const struct fields *d, uint8_t *frame);

#endif
