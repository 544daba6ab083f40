/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wants: lists a module's needs. In: its instructions. Out: each helper and each forbidden
 * construct once. check.c compares them with the grant.
 */
#ifndef AGENT_MODULE_WANTS_H
#define AGENT_MODULE_WANTS_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grant.h"

/* Instructions that no policy can grant. The check uses the instructions that the kernel gets. */
enum wants_denied {
	WANTS_UNKNOWN,	/* a helper or an instruction that this version does not know */
	WANTS_KFUNC,	/* a kernel function */
	WANTS_KERNEL,	/* a kernel variable */
	WANTS_CALLBACK, /* a function's address: for helpers that loop */
	WANTS_MAY_LOOP, /* may_goto: loops that the verifier does not follow */
	WANTS_PACKET,	/* the packet itself */
	WANTS_DENIED
};
extern const char *const wants_denied_names[WANTS_DENIED];

struct module_wants {
	uint64_t helpers[GRANT_HELPERS / 64]; /* by BPF_FUNC_ */
	bool denied[WANTS_DENIED];
};

/* Adds the wants of these instructions. */
void wants_insns(struct module_wants *w, const struct bpf_insn *insns, size_t count);
/* Whether the policy grants all wants. */
bool wants_granted(const struct module_wants *w, const struct module_grant *g);

#endif
