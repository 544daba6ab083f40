/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connection report: logs when a collector is connected, lost, and connected again. It logs at most
 * CONNECTION_REPORT_LINES lines in CONNECTION_REPORT_NS. The next line then has the last state and
 * the number of changes. With -v, it logs each change.
 */
#ifndef AGENT_CONTROL_CONNECTION_REPORT_H
#define AGENT_CONTROL_CONNECTION_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/export/session.h"
#include "wire/totals.h"

#define CONNECTION_REPORT_NS 60000000000ULL
#define CONNECTION_REPORT_LINES 6

struct connection_state {
	bool up;
	unsigned int peer;
};

struct connection_report {
	struct connection_state last, told;
	uint64_t lost_ns; /* CLOCK_MONOTONIC when the connection was lost; 0: it was not */
	unsigned int lost_peer;
	uint64_t back_ns; /* and when it was there again */
	uint64_t kept;	  /* captured frames that a collector had not settled then */
	uint64_t window_ns;
	unsigned int lines;   /* since window_ns */
	unsigned int changes; /* since the last line */
};

/* Returns whether to log the state `now`. `limited`: no more than the limit. */
bool connection_report_look(struct connection_report *r, const struct connection_state *now,
			    uint64_t now_ns, bool limited);
/* Counts the frames that wait while no collector is connected. Call it for new totals. */
void connection_report_count(struct connection_report *r, const struct session *s,
			     const struct totals *t);
/* Logs the line. Call it often. */
void connection_report_tell(struct connection_report *r, const struct session *s, uint64_t now_ns);

#endif
