/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Channel sampling, in the control thread. In: a plan for each interface that has one (plan.h),
 * orders of the collector, time, and what the privileged process says, which alone may tune. Out:
 * requests to it, and for the capture thread the dwells that have ended and the windows in which
 * radios are not settled (dwells.h). Always holds: nothing here waits; one request of an interface
 * is on its way at a time; the frames of all dwells, and those marked, are those that the hook has
 * seen since the first one began.
 */
#ifndef AGENT_RADIO_SAMPLER_H
#define AGENT_RADIO_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/model/handover.h"
#include "agent/model/statistics.h"
#include "agent/source/source.h"
#include "dwells.h"
#include "plan.h"
#include "wire/info.h"
#include "wire/order.h"

enum sampler_state {
	SAMPLER_STAYS,	/* where it is: there is no plan, or the interface is lost and that waits */
	SAMPLER_ASKING, /* for the card's channels */
	SAMPLER_TUNING,
	SAMPLER_DWELLS, /* until `ends_ns` */
};

/* One interface's. Times are CLOCK_MONOTONIC. */
struct sampler_radio {
	struct plan plan;	 /* of no entries: there is none */
	struct plan_asked asked; /* by the command line */
	enum sampler_state state;
	bool ordered; /* the plan is the collector's */
	bool fresh;   /* the plan's present entry comes next, not the one behind it */
	bool checks;  /* what was asked for last is whether it is where it is to be */
	bool strayed; /* once it was not, and that was said */
	uint64_t ends_ns;

	struct radio_channel now; /* where it listens; of 0 MHz: nowhere that is known */
	uint64_t from_ns;	  /* since when, or since the last part was told */
	uint64_t from_real_ns;	  /* the same, since 1970 */
	uint64_t seen;		  /* frames at the hook by then */
	uint64_t switch_ns, marked;
	struct clock_offset clock;

	struct radio_channel home; /* before it was tuned first; of 0 MHz: that is not known */

	struct radio_channel target; /* that was asked for */
	uint64_t asked_ns;	     /* when */
	uint64_t seen_asked;	     /* frames at the hook by then */

	struct radio_channel focus; /* of 0 MHz: none */
	uint64_t focus_ns;	    /* until then */
	uint64_t untold_frames;	    /* of dwells that could not be handed over */
	uint32_t failures;	    /* one after the other */
	uint16_t told;		    /* the errno of the interface that was said last */
	struct silence_watch deaf;  /* on all its channels */
};

/* The sampler's neighbours; not owned. */
struct sampler_meets {
	struct source *source;
	int privileged;		 /* socket to that process */
	const struct info *info; /* names, and the distance of the collector's clock */
};

struct sampler {
	struct sampler_meets meets;
	uint64_t (*realtime_ns)(void); /* the machine's; tests have another */
	uint32_t deaf_ms;
	uint32_t count;	  /* of interfaces; 0: none is sampled */
	uint32_t sampled; /* of radios */
	uint64_t untold;
	/* The present order, or the last. */
	char said[ANSWER_TEXT_MAX + 1]; /* who cannot, and why */
	uint32_t awaited;		/* bits of those radios whose word on it is to come */
	bool focus, took;		/* whether it is one, and whether any radio has done it */
	struct sampler_radio *radios[INTERFACES_MAX]; /* NULL: not a radio that is sampled */
	struct dwells dwells;
};

/* Returns a sampler for the interfaces that have a plan, and where the collector may give one
 * (`o->steered`) for all that are 802.11, or NULL where there are none of these; sets `*err` to
 * -ENOMEM where there is no memory. */
struct sampler *sampler_new(const struct capture_options *o, const struct handover *h,
			    const struct sampler_meets *meets, int *err);
void sampler_free(struct sampler *s);

/* All take NULL, and do nothing then. */

/* Everything is set: it begins. */
void sampler_start(struct sampler *s, uint64_t now_ns);
/* Does what is due. Returns milliseconds until it wants to be called again, -1: not by itself. */
int sampler_tick(struct sampler *s, uint64_t now_ns);
/* What the privileged process says: COMMAND_TUNED, COMMAND_CARD, COMMAND_LOST, COMMAND_INTERFACE.
 */
void sampler_told(struct sampler *s, const struct order *o, uint64_t now_ns);
/* Carries out an order of the collector on all radios: `arg` is the sampler. Returns 0,
 * -EINPROGRESS until all have said, whereupon sampler_ordered returns what has come of it, or
 * another -errno: no radio has done it, and where that was a list all sample as the command line
 * says, or, if it cannot be understood, as before. Why is in `said`. */
int sampler_order(void *arg, const struct order_channels *c);
int sampler_ordered(void *arg);
/* The run ends: what is listened to is told. Nothing is done behind it. */
void sampler_end(struct sampler *s, uint64_t now_ns);

/* How interface `i` is sampled; all 0 where it is not. */
void sampler_view(const struct sampler *s, unsigned int i, struct sampler_view *out);

#endif
