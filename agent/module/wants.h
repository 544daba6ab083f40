/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wants: what a module asks for. In: its instructions. Out: each helper and each denied construct
 * once. What is granted is for check.c to say.
 */
#ifndef AGENT_MODULE_WANTS_H
#define AGENT_MODULE_WANTS_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grant.h"

/* Instructions that no policy can grant. They are looked at as the kernel will have them. */
enum wants_denied {
	WANTS_UNKNOWN,	/* a helper, or a kind of instruction, that is not known here */
	WANTS_KFUNC,	/* a function of the kernel's own */
	WANTS_KERNEL,	/* a variable of it */
	WANTS_CALLBACK, /* a function by its address: for helpers that loop */
	WANTS_MAY_LOOP, /* may_goto: loops that the verifier does not go through */
	WANTS_PACKET,	/* the packet itself */
	WANTS_DENIED
};
extern const char *const wants_denied_names[WANTS_DENIED];

struct module_wants {
	uint64_t helpers[GRANT_HELPERS / 64]; /* by BPF_FUNC_ */
	bool denied[WANTS_DENIED];
};

/* Adds what these want. */
void wants_insns(struct module_wants *w, const struct bpf_insn *insns, size_t count);
/* Whether all of it is granted. */
bool wants_granted(const struct module_wants *w, const struct module_grant *g);

#endif
