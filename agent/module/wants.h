/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wants: what a module asks for. In: its instructions, and its maps as libbpf has understood them.
 * Out: each helper, each map, each denied construct once. What is granted is for check.c to say.
 */
#ifndef AGENT_MODULE_WANTS_H
#define AGENT_MODULE_WANTS_H

#include <bpf/libbpf.h>
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

/* An upper bound of the memory that the kernel takes for a map, in bytes; UINT64_MAX: none is
 * known. */
uint64_t wants_map_bytes(const struct bpf_map *map);
/* What of a map no policy can grant, with what to do; NULL: nothing. */
const char *wants_map_denied(const struct bpf_map *map);

#endif
