/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slice: what one of several mergers writes. A transmission is of the channel of its best
 * reception, and of the floor of its strongest one. In: the lists of --floor and --channel. Always
 * holds: if the lists of all mergers together have each floor and channel once, and "none", each
 * transmission is in one slice.
 */
#ifndef MERGE_MODEL_SLICE_H
#define MERGE_MODEL_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#define SLICE_MOST 128 /* floors, and channels */

/* The floor of a sensor, or of a transmission. */
struct slice_floor {
	bool known;
	int32_t floor;
};

/* All zeros: everything. */
struct slice {
	unsigned int floor_count, channel_count;
	unsigned int reach;		       /* floors on each side whose sensors are used, too */
	struct slice_floor floors[SLICE_MOST]; /* not known: those of "none" */
	uint16_t mhz[SLICE_MOST];	       /* 0: those of "none" */
};

/* Each reads an option's list. Returns 0, or -EINVAL after a line. */
int slice_read_floors(struct slice *s, const char *list);
int slice_read_channels(struct slice *s, const char *list);
static inline bool slice_is_whole(const struct slice *s)
{
	return !s->floor_count && !s->channel_count;
}
/* Whether a sensor on this floor may hear what is of one of the slice's floors. */
bool slice_is_near(const struct slice *s, struct slice_floor of);
/* Whether transmissions of this floor, or of this floor and channel, are in the slice. */
bool slice_has_floor(const struct slice *s, struct slice_floor of);
bool slice_has(const struct slice *s, struct slice_floor of, uint16_t mhz);

#endif
