/* SPDX-License-Identifier: GPL-2.0 */
/* Filter: lists of comparisons, see filter_chain.c. */
#ifndef AGENT_FILTER_CHAIN_H
#define AGENT_FILTER_CHAIN_H

#include "filter_emit.h"
#include "filter_flow.h"

struct chain {
	uint32_t k[FILTER_LEN_MAX], count;
	uint32_t yes; /* target if A is in the list */
	uint32_t no;  /* target if not: the list's end */
};

/* Whether a list that is long enough for a search begins at `i`. */
bool chain_find(struct chain *c, const struct filter *f, const struct filter_flow *w, uint32_t i);
/* Writes the search. */
void chain_emit(struct emitter *e, struct chain *c, struct filter_flow *w);

#endif
