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
#define ROOT_NS 1000000000LL /* a root is chosen after this time */

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
	int64_t looked_ns; /* unified time of the last look at all references */
	bool joined;	   /* since the last clocks_look() */
	uint64_t joins, steps, slews, part_joins;
	uint64_t replayed; /* references that a domain has heard twice */
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
/* Adds to the times of a part's references. */
void references_shift(struct clocks *c, uint32_t part, int64_t ns);
/* Looks for clocks again: after some arrivals. All domains have come to `reached_ns`, as far as
 * their time is known; INT64_MAX: nothing more will arrive. */
void clocks_look(struct clocks *c, int64_t reached_ns);

/* Sets each domain's `alone`. Returns 0 or -ENOMEM. */
int clocks_find_alone(struct clocks *c);

#endif
