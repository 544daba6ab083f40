/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dwells: pass from the control thread, which tunes radios, to the capture thread, which puts them
 * into combos. A ring has the dwells that ended. A history per radio has the windows in which it
 * changed channel or settled, so that frames from these are marked. Always holds: neither thread
 * waits for the other or allocates. A window is known here before its switch begins, so all its
 * frames are marked.
 */
#ifndef AGENT_RADIO_DWELLS_H
#define AGENT_RADIO_DWELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/model/capture_options.h"
#include "wire/dwell.h"

#define DWELLS_RING 256	  /* a power of two: of 8 radios, for 100 ms, 5 ms each */
#define DWELLS_WINDOWS 32 /* kept windows: a frame may stay in the kernel for a while */

/* CLOCK_MONOTONIC. An open window ends at UINT64_MAX. */
struct dwells_window {
	uint64_t begin_ns, end_ns;
};

/* Of one radio. */
struct dwells_history {
	unsigned int changes; /* common/changes.h */
	struct {
		uint64_t count; /* number of windows so far; the list has the last ones */
		struct dwells_window list[DWELLS_WINDOWS];
	} now, known; /* current, and as the capture thread last read it */
	unsigned int known_changes;
};

struct dwells {
	unsigned int head; /* next to fill; written by the control thread */
	unsigned int tail; /* next to take; written by the capture thread */
	struct {
		uint64_t ended_ns; /* CLOCK_MONOTONIC */
		struct dwell dwell;
	} ring[DWELLS_RING];
	struct dwells_history *histories[INTERFACES_MAX]; /* NULL: not tuned by this run */
};

/* ---- control thread -------------------------------------------------------------------------- */

/* Takes memory for the history of interface `i`. Returns 0 or -ENOMEM. */
int dwells_add(struct dwells *d, unsigned int i);
void dwells_free(struct dwells *d);
/* Interface `i` is not settled from `begin_ns` on, and settled from `end_ns` on. */
void dwells_begin(struct dwells *d, unsigned int i, uint64_t begin_ns);
void dwells_settled(struct dwells *d, unsigned int i, uint64_t end_ns);
/* Returns false if the ring is full. */
bool dwells_push(struct dwells *d, const struct dwell *dwell, uint64_t ended_ns);

/* ---- capture thread -------------------------------------------------------------------------- */

/* Whether interface `i` was changing channel or settling at `heard_ns`. True if no longer known. */
bool dwells_unsettled(struct dwells *d, unsigned int i, uint64_t heard_ns);
/* Returns the next dwell if it ended by `until_ns`. It stays until dwells_pop. */
const struct dwell *dwells_front(const struct dwells *d, uint64_t until_ns);
void dwells_pop(struct dwells *d);

#endif
