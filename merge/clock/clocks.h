/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clocks: all domains, what is known of their clocks, and the references. Parts are sets of domains
 * that share frames.
 *
 *     arrive.h: a reception ─┬─▶ seek.h: clocks that are not known
 *                            ├─▶ find.h: steps
 *                            └─▶ parts.h: parts that share frames after all
 */
#ifndef MERGE_CLOCK_CLOCKS_H
#define MERGE_CLOCK_CLOCKS_H

#include "domain.h"
#include "part.h"
#include "references.h"
#include "want.h"

#define JOIN_SD_NS 100e3
#define JOIN_SD_RATE 60e-6
#define CLOCKS_QUEUED_MOST 300000 /* with more in the queues, nothing is waited for: memory */

struct clocks_sensor {
	struct domain *first, *last;	/* of its domains, by `sibling` */
	bool had;			/* it had one */
	uint32_t run, run_before, runs; /* of the next one; the run before; runs so far */
	unsigned int left;		/* of them, no radio's any more (retire.h) */
	/* While seek.c looks at radios with a TSFT. */
	bool any, split; /* a clock is known; they are of several parts */
	uint32_t part;	 /* of one of them */
};

struct clocks {
	/* By number. Spare ones have ended, without a reception and without a clock. */
	struct domain **list;
	unsigned int count, room;
	struct domain *spare; /* those that nobody uses, by `sibling` */
	uint64_t serial;      /* domains so far */
	struct clocks_sensor *of_sensor;
	uint32_t sensor_room;
	struct references references;
	uint64_t parts; /* so far */
	struct parts part;
	struct wanted wanted; /* while clocks are found */
	int64_t now_ns;	      /* newest unified time of arrivals */
	uint32_t ahead_of;    /* a sensor that is far ahead of it: its index + 1; 0: none */
	int64_t ahead_ns;     /* since this time of its own */
	/* A domain that nobody knows makes a part of its own after this time, and one that shares
	 * too few references with others, after this. */
	int64_t alone_ns, sparse_ns;
	int64_t looked_ns; /* unified time when all references were looked at last */
	bool joined;	   /* since the last seek_all() */
	uint64_t joins, steps, slews, part_joins;
	uint64_t misdated; /* receptions whose stamp was far ahead of the next one */
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
/* The sensor's next domains are of a new run, or of the run before. */
void clocks_new_run(struct clocks *c, uint32_t sensor);
void clocks_run_before(struct clocks *c, uint32_t sensor);
/* Nobody refers to the domain any more. Its queue is empty. */
void clocks_give_back(struct clocks *c, struct domain *d);
/* Tells who wants to know that a clock changes. */
void clocks_say(struct clocks *c, struct domain *d, const char *event);
/* Returns the number of receptions in all queues. */
uint64_t clocks_queued(const struct clocks *c);

#endif
