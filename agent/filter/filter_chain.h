/* SPDX-License-Identifier: GPL-2.0 */
/* Filter: lists of comparisons, see filter_chain.c. */
#ifndef AGENT_FILTER_CHAIN_H
#define AGENT_FILTER_CHAIN_H

#include "filter_emit.h"
#include "filter_flow.h"

/* How many comparisons that begin at `i` make a list; 0 where there is none worth a search. */
uint32_t chain_length(const struct filter *f, const struct filter_flow *w, uint32_t i);
/* Writes the search for the `n` comparisons from `i` on. */
void chain_emit(struct emitter *e, const struct filter *f, struct filter_flow *w, uint32_t i,
		uint32_t n);

#endif
