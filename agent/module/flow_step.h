/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flow, step: the effect of one instruction on the possible contents of registers and stack.
 * Function calls and the next instruction are in flow.c.
 */
#ifndef AGENT_MODULE_FLOW_STEP_H
#define AGENT_MODULE_FLOW_STEP_H

#include "flow_helper.h"

/* Returns NULL, or the forbidden action. */
const char *flow_step(struct flow_state *s, const struct bpf_insn *i, const struct flow_maps *maps);
/* Narrows the state after a conditional jump that is taken or not. */
void flow_branch(struct flow_state *s, const struct bpf_insn *i, bool taken);

#endif
