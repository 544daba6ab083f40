/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loss report: says while it happens that frames are given up because the store is full: once when
 * it begins, then at most once a minute, and when it is over. All of these lines name the ledger's
 * counter, dropped_store, with its total.
 */
#ifndef AGENT_CONTROL_LOSS_REPORT_H
#define AGENT_CONTROL_LOSS_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/totals.h"

#define LOSS_REPORT_AGAIN_NS                                                                       \
	60000000000ULL /* at least this long between two lines of the same loss */
#define LOSS_REPORT_OVER_NS 10000000000ULL /* it is over when nothing was given up for so long */

struct loss_report {
	bool goes_on;	  /* and that was said */
	uint64_t dropped; /* dropped_store when we last looked */
	uint64_t last_ns; /* CLOCK_MONOTONIC, when it last rose */
	uint64_t told_ns; /* of the last line; 0: none yet */
	uint64_t told;	  /* dropped_store in that line */
};

enum loss_report_news {
	LOSS_REPORT_NOTHING,
	LOSS_REPORT_BEGINS,
	LOSS_REPORT_GOES_ON,
	LOSS_REPORT_IS_OVER
};

/* What is to be said at `now_ns`, where dropped_store is `dropped`. */
enum loss_report_news loss_report_look(struct loss_report *l, uint64_t dropped, uint64_t now_ns);
/* Says it. Called whenever there are new totals. `up`: a collector answers. */
void loss_report_tell(struct loss_report *l, const struct totals *t, bool up, uint64_t now_ns);

#endif
