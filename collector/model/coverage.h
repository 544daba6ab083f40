/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Coverage: what share of the time a sensor's radios have listened to each channel, in its present
 * run. In: dwells. Out: sums for each interface and channel: lines for people, JSON, the comment of
 * statistics blocks. Always holds: there is memory for it only where a sensor samples, and what a
 * sensor says makes it no larger than COVERAGE_CHANNELS_MAX an interface; dwells of further
 * channels are counted, no more.
 */
#ifndef COLLECTOR_MODEL_COVERAGE_H
#define COLLECTOR_MODEL_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "wire/channel.h"
#include "wire/combo.h"
#include "wire/dwell.h"
#include "wire/info.h"

#define COVERAGE_CHANNELS_MAX 128 /* of an interface */
/* What is printed of an interface, with an end, where nothing is in front of lines. */
#define COVERAGE_TEXT_MAX (180 * (COVERAGE_CHANNELS_MAX + 1))

struct coverage_channel {
	struct radio_channel channel;
	uint64_t dwells;      /* those that were told in parts are one each */
	uint64_t listened_ns; /* sum of their time */
	uint64_t frames;      /* seen at the hook in that */
	uint64_t marked;      /* and while the radio changed to this channel and settled */
	uint64_t switch_ns;   /* sum of what the changes to it took */
	uint64_t failures;    /* changes that the radio refused */
};

struct coverage_interface {
	uint64_t from_ns, to_ns;   /* of the first and the last dwell, ns since 1970-01-01 UTC */
	uint64_t begin_ns, end_ns; /* the same, by the clock that nobody sets */
	uint64_t others;	   /* dwells of channels that there was no room for */
	const struct coverage_channel *last; /* of the dwell before, which ended at last_ns */
	uint64_t last_ns;
	unsigned int count, room;
	struct coverage_channel *list; /* in the order in which they were heard of */
};

struct coverage {
	struct coverage_interface of[INFO_INTERFACES_MAX];
};

/* Reads an event's dwell. Returns 0, or -EBADMSG: it is none, or of an interface that cannot be. */
int coverage_read(struct dwell *d, const struct combo_event *e);
/* Adds one to `*c`, which is NULL before the first. Where there is no memory it is as if there were
 * no room for its channel. */
void coverage_add(struct coverage **c, const struct dwell *d);
void coverage_free(struct coverage **c);

/* NULL where the interface has sampled no channels; `c` may be NULL too. */
const struct coverage_interface *coverage_of(const struct coverage *c, unsigned int interface);
/* A line for each channel, behind `before` each. */
void coverage_print(FILE *out, const char *before, const struct coverage_interface *i);
/* A JSON object. */
void coverage_json(FILE *out, const struct coverage_interface *i);

#endif
