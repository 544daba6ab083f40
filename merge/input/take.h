/* SPDX-License-Identifier: GPL-2.0 */
/* Take: a block of the collector's becomes a reception, or says something of a clock. In: blocks of
 * a section. Out: the merge. */
#ifndef MERGE_INPUT_TAKE_H
#define MERGE_INPUT_TAKE_H

#include "merge/frame/identity.h"
#include "sensors.h"

struct input_counters {
	uint64_t frames;       /* of 802.11 with radiotap */
	uint64_t other;	       /* frames of other link types, or without a stamp */
	uint64_t malformed;    /* frames without an identity */
	uint64_t bad_blocks;   /* each after a line */
	uint64_t astray;       /* blocks of interfaces that are not there */
	uint64_t bad_readings; /* of clocks, with impossible values */
	uint64_t twins;	       /* combos of a machine that another one has the name of */
	uint64_t left; /* frames of sensors that are left to other mergers; they are not read */
};

struct take {
	struct sensors *sensors;
	struct merge *merge;
	uint8_t secret[IDENTITY_SECRET];
	struct input_counters counters;
};

/* Counts a frame of an interface whose frames are left to other mergers. */
void take_left(struct take *t, const struct input_interface *on);
/* Takes what a sensor, or the collector, says of the sensor's clock, in a statistics block. */
void take_statistics(struct take *t, const struct input_section *section, struct pcapng_block *b);
/* Takes a packet block of `section`, whose bytes are in `chunk`. Returns 0 or -ENOMEM. */
int take_packet(struct take *t, const struct input_section *section, struct pcapng_block *b,
		struct chunk *chunk);

#endif
