/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interfaces: the interfaces of the viewer's section, in the order of their numbers. In: offsets in
 * a collector's table. Out: numbers. Always holds: equal blocks have the same number, even if a
 * restarted collector wrote them.
 */
#ifndef LIVE_INTERFACES_H
#define LIVE_INTERFACES_H

#include "source.h"

#define INTERFACES_MAX 65536
#define INTERFACES_BYTES_MAX (64 << 20)

struct interface {
	uint8_t *block;
	uint32_t len;
	uint16_t linktype;
	uint32_t sensor;	     /* in the present source's table */
	uint64_t received, accepted; /* frames */
	uint64_t missed;
	uint64_t last_ns; /* time of the last frame */
	uint64_t told;	  /* received + missed in the last statistics block */
};

struct interfaces {
	struct interface *list;
	uint32_t count, room;
	size_t bytes;	      /* of all blocks */
	uint32_t generation;  /* that `numbers` belong to: this one and the one before */
	uint32_t *numbers[2]; /* by generation % 2 and offset / 4: number + 1, 0: not known */
	uint32_t *firsts;     /* by sensor: number + 1 of its first interface, 0: not known */
};

/* Returns 0 or -ENOMEM. */
int interfaces_init(struct interfaces *x);
void interfaces_free(struct interfaces *x);
/* Another source: its offsets are not known yet. */
void interfaces_source(struct interfaces *x);
/* Returns the number of the interface whose block is at `offset`; -ENOENT if the block was
 * overwritten; -ENOMEM; or -EBADMSG. `*is_new`: the block must be written first. */
int interfaces_find(struct interfaces *x, const struct source *s, const struct live_record *r,
		    uint32_t offset, int *is_new);
/* Makes an interface for the missed frames of a sensor that has none yet. Returns its number or
 * -errno; `*is_new` as above. */
int interfaces_make(struct interfaces *x, uint32_t sensor, const char *name, int *is_new);
/* Returns the sensor's first interface, or NULL. */
struct interface *interfaces_of(struct interfaces *x, uint32_t sensor);

#endif
