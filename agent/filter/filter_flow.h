/* SPDX-License-Identifier: GPL-2.0 */
/* Filter: how its instructions follow one another. */
#ifndef AGENT_FILTER_FLOW_H
#define AGENT_FILTER_FLOW_H

#include "filter.h"

struct filter_flow {
	uint16_t ways[FILTER_LEN_MAX]; /* that lead to the instruction; 0: it is never run */
	bool a[FILTER_LEN_MAX],
		x[FILTER_LEN_MAX]; /* what is in A and X in front of it is read later */
};

/* Of a filter that was checked. */
void filter_flow(struct filter_flow *w, const struct filter *f);

#endif
