/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs between opening and loading: what depends on the kernel and cannot be left to a
 * constant, because the kernel looks at every instruction, reached or not.
 */
#ifndef AGENT_PROGRAMS_PROGRAM_H
#define AGENT_PROGRAMS_PROGRAM_H

#include <bpf/libbpf.h>

/* Takes the atomic exchange (bpf/mapped.h) out of all programs of `obj`, which must not need it.
 * Linux before 5.12 does not know it, and refuses a program that has it. Returns 0 or -errno. */
int program_drop_exchange(struct bpf_object *obj);
/* Before Linux 5.12 a global function cannot have pointers for arguments. There all functions of
 * `obj` become static: they are verified with what they are called with, at each call. */
void program_functions(struct bpf_object *obj);
/* Explains a negative errno of loading or attaching a program, and says what to do. */
const char *program_reason(int err);

#endif
