/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sampler: channel sampling, in the control thread. In: interfaces' plans (plan.h), the collector's
 * orders, time, and messages of the privileged process, which tunes. Out: requests to that process,
 * and for the capture thread the finished dwells and the windows in which radios are not settled
 * (dwells.h). Always holds: it never waits. Each interface has at most one open request. The frames
 * of all dwells and the marked frames sum to the hook's frames since the first dwell.
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
	SAMPLER_STAYS,	/* on its channel: no plan, or the interface is lost */
	SAMPLER_ASKING, /* asks for the card's channels */
	SAMPLER_TUNING,
	SAMPLER_DWELLS, /* listens until `ends_ns` */
};

/* One interface's state. Times are CLOCK_MONOTONIC. */
struct sampler_radio {
	struct plan plan;	 /* no entries: no plan */
	struct plan_asked asked; /* of the command line */
	enum sampler_state state;
	bool ordered; /* the plan is an order's */
	bool fresh;   /* next comes the plan's current entry, not the one after it */
	bool checks;  /* the open request checks its channel */
	bool strayed; /* a wrong channel was found and logged */
	uint64_t ends_ns;

	struct radio_channel now; /* current channel; 0 MHz: not known */
	uint64_t from_ns;	  /* since then, or since the last reported part */
	uint64_t from_real_ns;	  /* the same, since 1970 */
	uint64_t seen;		  /* frames at the hook by then */
	uint64_t switch_ns, marked;
	struct clock_offset clock;

	struct radio_channel home; /* channel before the first switch; 0 MHz: not known */

	struct radio_channel target; /* requested channel */
	uint64_t asked_ns;	     /* when */
	uint64_t seen_asked;	     /* frames at the hook by then */

	struct radio_channel focus; /* 0 MHz: none */
	uint64_t focus_ns;	    /* its end */
	uint64_t untold_frames;	    /* of dwells that did not fit in the ring */
	uint32_t failures;	    /* consecutive */
	uint16_t told;		    /* last reported errno of the interface */
	struct silence_watch deaf;  /* for all its channels */
};

/* The sampler's neighbours; not owned. */
struct sampler_meets {
	struct source *source;
	int privileged;		 /* socket to that process */
	const struct info *info; /* names, and the collector's clock offset */
};

struct sampler {
	struct sampler_meets meets;
	uint64_t (*realtime_ns)(void); /* the machine's clock; tests replace it */
	uint32_t deaf_ms;
	uint32_t count;	  /* interfaces; 0: none is sampled */
	uint32_t sampled; /* sampled radios */
	uint64_t untold;
	/* The current or last order. */
	char said[ANSWER_TEXT_MAX + 1];		      /* which radios failed, and why */
	uint32_t awaited;			      /* bits of radios whose answers are pending */
	bool focus, took;			      /* it is a focus; a radio has done it */
	struct sampler_radio *radios[INTERFACES_MAX]; /* NULL: not sampled */
	struct dwells dwells;
};

/* Returns whether an interface's channels are sampled: sampler_new would return a sampler. */
bool sampler_is_needed(const struct capture_options *o, const struct handover *h);
/* Returns a sampler for all interfaces with a plan and, if the collector may send plans
 * (`o->steered`), for all 802.11 interfaces. Returns NULL if there are none, or with `*err` -ENOMEM
 * without memory. */
struct sampler *sampler_new(const struct capture_options *o, const struct handover *h,
			    const struct sampler_meets *meets, int *err);
void sampler_free(struct sampler *s);

/* All accept NULL and then do nothing. */

/* Starts, when all fields are set. */
void sampler_start(struct sampler *s, uint64_t now_ns);
/* Does the due work. Returns milliseconds until it must be called again; -1: no time. */
int sampler_tick(struct sampler *s, uint64_t now_ns);
/* Takes a message of the privileged process: COMMAND_TUNED, COMMAND_CARD, COMMAND_LOST,
 * COMMAND_INTERFACE.
 */
void sampler_told(struct sampler *s, const struct order *o, uint64_t now_ns);
/* Carries out the collector's order on all radios. `arg` is the sampler. Returns 0; -EINPROGRESS:
 * sampler_ordered will return the result when all radios have answered; or another -errno with the
 * reason in `said`: no radio has done it. After a failed list, all radios sample by the command
 * line, or as before if the list is malformed. */
int sampler_order(void *arg, const struct order_channels *c);
int sampler_ordered(void *arg);
/* Ends the run: reports the current dwells. Nothing may be called after it. */
void sampler_end(struct sampler *s, uint64_t now_ns);

/* Returns how interface `i` is sampled; all 0 if not. */
void sampler_view(const struct sampler *s, unsigned int i, struct sampler_view *out);

#endif
