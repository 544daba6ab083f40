/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Coverage: the share of time for which a sensor's radios have listened to each channel, in its
 * present run. In: dwells. Out: sums per interface and channel: text lines, the comment of
 * statistics blocks. Always holds: only sensors that sample channels use memory, and at most
 * COVERAGE_CHANNELS_MAX channels per interface; dwells of further channels are only counted.
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

#define COVERAGE_CHANNELS_MAX 128 /* per interface */
/* Size of an interface's text with its 0 byte, if lines have no prefix. */
#define COVERAGE_TEXT_MAX (180 * (COVERAGE_CHANNELS_MAX + 1))

struct coverage_channel {
	struct radio_channel channel;
	uint64_t dwells;      /* a dwell reported in parts counts once */
	uint64_t listened_ns; /* sum of their durations */
	uint64_t frames;      /* seen at the hook in this time */
	uint64_t marked;      /* seen during changes to this channel, without the settle time */
	uint64_t switch_ns;   /* sum of the durations of changes to it */
	uint64_t failures;    /* changes that the radio refused */
};

struct coverage_interface {
	uint64_t from_ns, to_ns;	     /* of all dwells, ns since 1970-01-01 UTC */
	uint64_t begin_ns, end_ns;	     /* the same, by a clock that is never set */
	uint64_t others;		     /* dwells of channels without room */
	const struct coverage_channel *last; /* of the last dwell, which ended at last_ns */
	uint64_t last_ns;
	unsigned int count, room;
	struct coverage_channel *list; /* in order of their first dwells */
};

struct coverage {
	struct coverage_interface of[INFO_INTERFACES_MAX];
};

/* Reads an event's dwell. Returns 0, or -EBADMSG if it is malformed or its interface's number is
 * too large. */
int coverage_read(struct dwell *d, const struct combo_event *e);
/* Adds a dwell to `*c`, which is NULL before the first. Without memory for its channel, the dwell
 * counts in `others`; without memory for `*c`, it is ignored. */
void coverage_add(struct coverage **c, const struct dwell *d);
void coverage_free(struct coverage **c);

/* Returns NULL if the interface has sampled no channels. `c` may be NULL. */
const struct coverage_interface *coverage_of(const struct coverage *c, unsigned int interface);
/* Prints a line per channel, each after `before`. */
void coverage_print(FILE *out, const char *before, const struct coverage_interface *i);

#endif
