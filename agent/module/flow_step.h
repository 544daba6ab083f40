/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flow, step: what one instruction makes of registers and stack, whatever may be in them. All but
 * calls of functions, and where it goes on.
 */
#ifndef AGENT_MODULE_FLOW_STEP_H
#define AGENT_MODULE_FLOW_STEP_H

#include "flow_helper.h"

/* Returns NULL, or what the module must not do. */
const char *flow_step(struct flow_state *s, const struct bpf_insn *i, const struct flow_maps *maps);
/* What is known where a conditional jump goes one of its ways. */
void flow_branch(struct flow_state *s, const struct bpf_insn *i, bool taken);

#endif
