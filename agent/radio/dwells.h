/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the control thread, which tunes radios, to the capture thread, which puts what it is told
 * into combos: dwells that have ended, in a ring, and of each radio when it was changing channel or
 * settling, so that frames heard then are marked. Always holds: neither thread waits for the other
 * or allocates; a switch is known here before it begins, so none of its frames passes unmarked.
 */
#ifndef AGENT_RADIO_DWELLS_H
#define AGENT_RADIO_DWELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/model/capture_options.h"
#include "wire/dwell.h"

#define DWELLS_RING 256	  /* a power of two: of 8 radios, for 100 ms, 5 ms each */
#define DWELLS_WINDOWS 32 /* that are remembered: a frame may lie in the kernel for a while */

/* CLOCK_MONOTONIC. While it lasts, its end is UINT64_MAX. */
struct dwells_window {
	uint64_t begin_ns, end_ns;
};

/* Of one radio. */
struct dwells_history {
	unsigned int changes; /* common/changes.h */
	struct {
		uint64_t count; /* so many windows there were; the last ones are in the list */
		struct dwells_window list[DWELLS_WINDOWS];
	} now, known; /* as it is, and as the capture thread last saw it */
	unsigned int known_changes;
};

struct dwells {
	unsigned int head; /* next to fill; written by the control thread */
	unsigned int tail; /* next to take; written by the capture thread */
	struct {
		uint64_t ended_ns; /* CLOCK_MONOTONIC */
		struct dwell dwell;
	} ring[DWELLS_RING];
	struct dwells_history *histories[INTERFACES_MAX]; /* NULL: not a radio that is tuned */
};

/* ---- control thread -------------------------------------------------------------------------- */

/* Takes memory for the history of interface `i`. Returns 0 or -ENOMEM. */
int dwells_add(struct dwells *d, unsigned int i);
void dwells_free(struct dwells *d);
/* From `begin_ns` on interface `i` is not settled; and it is from `end_ns` on. */
void dwells_begin(struct dwells *d, unsigned int i, uint64_t begin_ns);
void dwells_settled(struct dwells *d, unsigned int i, uint64_t end_ns);
/* Returns false where the ring is full. */
bool dwells_push(struct dwells *d, const struct dwell *dwell, uint64_t ended_ns);

/* ---- capture thread -------------------------------------------------------------------------- */

/* Whether interface `i` was changing channel or settling at `heard_ns`, or that is forgotten. */
bool dwells_unsettled(struct dwells *d, unsigned int i, uint64_t heard_ns);
/* The next dwell, where it had ended by `until_ns`; it stays until dwells_pop. */
const struct dwell *dwells_front(const struct dwells *d, uint64_t until_ns);
void dwells_pop(struct dwells *d);

#endif
