/* SPDX-License-Identifier: GPL-2.0 */
/* Domain: what one clock stamps, during one run of a sensor: a sensor's radios, or, if it says its
 * TSFT, one radio. */
#ifndef MERGE_CLOCK_DOMAIN_H
#define MERGE_CLOCK_DOMAIN_H

#include "bridge.h"
#include "clock.h"
#include "queue.h"

#define SAMPLES 32  /* looked at for joins */
#define SUSPECTS 16 /* looked at for steps */
#define MARKS 8	    /* the same */

enum domain_follows { FOLLOWS_STAMP, FOLLOWS_RAW, FOLLOWS_TSFT }; /* own.h */

/* A sensor's reading of its clocks. */
struct reading {
	int64_t monotonic_ns;
	int64_t difference_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC, from now on */
	int64_t raw_ns;	       /* CLOCK_MONOTONIC_RAW minus CLOCK_MONOTONIC */
	double slope;	       /* of raw_ns */
};

/* A reference that came before the clock was found. */
struct waiting {
	uint64_t key;
	int64_t own_ns;
};

/* Differences to others' times. */
struct samples {
	int64_t ns[SAMPLES];
	int64_t own_ns[SAMPLES]; /* when */
	uint32_t count;		 /* also those that were overwritten */
	uint32_t part;		 /* of the others */
	int64_t last_ns;	 /* own time of the last one */
};

/* References that contradict the clock. */
struct suspects {
	unsigned int count;
	int64_t ns[SUSPECTS];
	uint32_t others[SUSPECTS]; /* domains */
	int64_t first_ns, last_ns; /* own times of the first and the last one */
	int64_t least_ns;	   /* they do not count before they last so long */
	uint64_t first;		   /* number of the first one in the queue */
};

/* The unified time minus own time, at an own time. */
struct mark {
	int64_t own_ns, distance_ns;
};

/* Its course: at the newest references that fit. */
struct course {
	uint32_t count;	     /* also those that were overwritten */
	uint32_t generation; /* the clock's, then */
	struct mark of[MARKS];
};

struct domain {
	uint32_t number, sensor; /* the number is another domain's after this one */
	uint32_t run;		 /* of the sensor: each one may have another clock */
	uint64_t serial;	 /* this one's alone */
	struct domain *sibling;	 /* the sensor's next one */
	unsigned int radios;	 /* so many refer to it; 0: nothing more comes (retire.h) */
	bool left;		 /* it is so; */
	int64_t left_ns;	 /* retire.h has seen it at this unified time; 0: not yet */
	bool retires;		 /* while domains are retired */
	uint32_t part;	       /* of domains that share frames; meaningful if the clock is known */
	struct domain *member; /* the part's next one (parts_gather()) */
	struct clock clock;
	struct queue queue;
	bool alone;	    /* no other sensor is in its part, though there are others */
	bool arrived;	    /* something has */
	bool ended;	    /* nothing more will come */
	int64_t first_ns;   /* own time of the first reception */
	bool again;	    /* the sensor had another one before; its clock was set */
	int64_t others_ns;  /* how far others were when it began, unified time */
	int64_t newest_ns;  /* own time before which nothing more comes */
	int64_t coarse_ns;  /* unified minus own time, as far as known from outside */
	bool placed;	    /* `coarse_ns` is by the collector's clock, */
	bool anchored;	    /* newly */
	int64_t anchor_ns;  /* measured at this own time, */
	double anchor_sd;   /* with this sigma, ns */
	int64_t stepped_ns; /* sum of the steps that were taken out of own time */
	enum domain_follows follows;
	struct reading reading;	    /* the last one */
	uint64_t since;		    /* number of the first reception after it */
	int64_t tsft_ns, behind_ns; /* the last TSFT; the stamp minus it */
	bool doubted;		    /* the TSFT may have been reset, */
	uint64_t doubt_from;	    /* from this number on; */
	int64_t doubt_stamp_ns;	    /* its stamp; and behind_ns before it */
	int64_t doubt_behind_ns;
	uint64_t good;		      /* number of the last reference that fits, in the queue */
	unsigned int offs;	      /* references that fit, but not well, up to it */
	int64_t good_ns, good_off_ns; /* its own time, and by which it is off */
	int64_t good_gap_ns;	      /* how long there is none, at most */
	struct samples samples;	      /* joins; later, differences to another part */
	struct course course;	      /* steps */
	struct suspects suspects;     /* the same */
	struct waiting *waiting;      /* WAITING_MAX of them, or NULL */
	unsigned int waiting_count;
	/* FOLLOWS_TSFT: stamps minus own time, as they arrive; minus unified time, in an epoch */
	struct bridge arrived_by, swept_by;
	int64_t stamp_ns; /* the newest one */
	/* Level, and small steps */
	unsigned int outliers;
	uint32_t outlier_other; /* the domain that the first one was off, */
	bool outlier_others;	/* and others, too */
	int64_t outlier_first_ns, outlier_last_ns;
	double outlier_least, outlier_most;
	unsigned int strange; /* epochs, whose correction was far beyond its variance */
	/* Counted for clocks.tsv. */
	uint64_t references, outlying, steps, slews;
	uint64_t told_references, told_outlying; /* by its last line, */
	bool told;				 /* which was the last one */
	uint32_t heap_at;			 /* place in the sweep's heap, from 1; 0: none */
	int64_t heap_ns, heap_tie;
};

#define WAITING_MAX 4096

static inline int64_t domain_unified(const struct domain *d, int64_t own_ns)
{
	return d->clock.known ? clock_unified(&d->clock, own_ns) : own_ns + d->coarse_ns;
}

/* Returns the domain's part. While its clock is not known, it is the only one of a part. */
static inline uint32_t domain_part(const struct domain *d)
{
	return d->clock.known ? d->part : UINT32_MAX - d->number;
}

#endif
