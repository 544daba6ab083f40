/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs, between opening and loading: changes that depend on the kernel. Constants cannot make
 * them, as old kernels check unreachable instructions too.
 */
#ifndef AGENT_PROGRAMS_PROGRAM_H
#define AGENT_PROGRAMS_PROGRAM_H

#include <bpf/libbpf.h>
#include <stdbool.h>

/* Removes the atomic exchange (bpf/mapped.h) from all programs of `obj`, which must not need it.
 * Linux before 5.12 refuses programs with it. Returns 0 or -errno. */
int program_drop_exchange(struct bpf_object *obj);
/* Whether this kernel takes that exchange: it is tried. */
bool program_exchange_works(void);
/* Before Linux 5.12 a global function cannot have pointer arguments. There this makes all functions
 * of `obj` static: the verifier checks them at each call with the call's arguments. */
void program_functions(struct bpf_object *obj);
/* Explains a negative errno of loading or attaching a program, with the remedy. */
const char *program_reason(int err);

#endif
