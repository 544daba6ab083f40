/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clocks: all domains. In: receptions as they arrive. Out: which clocks are known, and in which
 * part: parts are sets of domains that share frames. A clock is found (join), and found anew after
 * a step, by references: transmissions that are unique for long, which others have heard. The first
 * one of a part is its root.
 */
#ifndef MERGE_CLOCK_CLOCKS_H
#define MERGE_CLOCK_CLOCKS_H

#include "domain.h"
#include "references.h"

#define JOIN_SD_NS 100e3
#define JOIN_SD_RATE 60e-6
#define CLOCKS_QUEUED_MOST 1000000 /* with more in the queues, nothing is waited for: memory */
#define ROOT_NS 1000000000LL	   /* a root is chosen after this time */

struct clocks {
	struct domain **list;
	unsigned int count, room;
	struct references references;
	uint32_t parts;	       /* numbers given so far */
	struct clock *commons; /* by part: what all its clocks have in common (anchor.h) */
	uint32_t common_room;
	int64_t now_ns; /* newest unified time of an arrival */
	/* A domain that nobody knows makes a part of its own after this time, and one that shares
	 * too few references with others, after this. */
	int64_t alone_ns, sparse_ns;
	bool joined; /* since the last clocks_look() */
	uint64_t joins, steps, slews, part_joins;
	/* Called before receptions in the queue, or the clock, change. May be NULL. */
	void (*changed)(void *context, struct domain *d, const char *event);
	void *context;
};

/* Returns 0 or -ENOMEM. */
int clocks_init(struct clocks *c);
void clocks_free(struct clocks *c);
/* Returns a new domain of a sensor's, or NULL without memory. */
struct domain *clocks_add(struct clocks *c, uint32_t sensor);
/* Takes the newest reception in the domain's queue. */
void clocks_arrived(struct clocks *c, struct domain *d);
/* Returns the number of receptions in all queues. */
uint64_t clocks_queued(const struct clocks *c);
/* Adds to the times of a part's references. */
void references_shift(struct clocks *c, uint32_t part, int64_t ns);
/* Looks for clocks again: after some arrivals. `all`: nothing more will arrive. */
void clocks_look(struct clocks *c, bool all);

#endif
