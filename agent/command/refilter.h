/* SPDX-License-Identifier: GPL-2.0 */
/* Refilter: changes the filter of programs that are attached without an agent. */
#ifndef AGENT_REFILTER_H
#define AGENT_REFILTER_H

#include <stddef.h>

#include "agent/filter/filter.h"
#include "agent/interface/interface_state.h"

/* Replaces the programs by ones with this filter, made for `link`. Returns 0, or -errno with the
 * reason in `why`, which is empty if it was logged. */
int refilter_pinned(const char *interface, struct filter *new, const struct interface_state *link,
		    char *why, size_t why_len);

#endif
