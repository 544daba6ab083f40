/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loss report: logs while frames are dropped from a full store: when it begins, then at most once a
 * minute, and when it ends. All lines name the ledger's counter dropped_store with its total.
 */
#ifndef AGENT_CONTROL_LOSS_REPORT_H
#define AGENT_CONTROL_LOSS_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/totals.h"

#define LOSS_REPORT_AGAIN_NS 60000000000ULL /* shortest time between two lines of one loss */
#define LOSS_REPORT_OVER_NS 10000000000ULL  /* a loss ends after this time without drops */

struct loss_report {
	bool goes_on;	  /* a loss is going on, and was logged */
	uint64_t dropped; /* dropped_store at the last check */
	uint64_t last_ns; /* CLOCK_MONOTONIC of its last increase */
	uint64_t told_ns; /* time of the last line; 0: none yet */
	uint64_t told;	  /* dropped_store in that line */
};

enum loss_report_news {
	LOSS_REPORT_NOTHING,
	LOSS_REPORT_BEGINS,
	LOSS_REPORT_GOES_ON,
	LOSS_REPORT_IS_OVER
};

/* Decides which line to log at `now_ns`. `dropped`: the current dropped_store. */
enum loss_report_news loss_report_look(struct loss_report *l, uint64_t dropped, uint64_t now_ns);
/* Logs the line. Call it for new totals. `up`: a collector answers. */
void loss_report_tell(struct loss_report *l, const struct totals *t, bool up, uint64_t now_ns);

#endif
