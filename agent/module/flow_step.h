/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flow, step: what one instruction makes of registers and stack, whatever may be in them. All but
 * calls of functions, and where it goes on.
 */
#ifndef AGENT_MODULE_FLOW_STEP_H
#define AGENT_MODULE_FLOW_STEP_H

#include <linux/bpf.h>
#include <stddef.h>

#include "flow_state.h"

struct flow_map {
	int fd;
	uint32_t type, key_len, value_len;
};

/* The module's maps. */
struct flow_maps {
	const struct flow_map *all;
	size_t count;
};

/* Returns NULL, or what the module must not do. */
const char *flow_step(struct flow_state *s, const struct bpf_insn *i, const struct flow_maps *maps);
/* What is known where a conditional jump goes one of its ways. */
void flow_branch(struct flow_state *s, const struct bpf_insn *i, bool taken);

#endif
