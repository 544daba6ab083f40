/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Zeros: initialises stack that a module's function may read before it has written it, so that it
 * finds no other program's data. A module that the kernel proved (proof.h) reads no such stack. In:
 * a program just before it is loaded, and the slots (flow.h). Out: the program with more
 * instructions.
 */
#ifndef AGENT_MODULE_ZEROS_H
#define AGENT_MODULE_ZEROS_H

#include <bpf/libbpf.h>
#include <stddef.h>
#include <stdint.h>

/* Returns new instructions, which the caller frees, or NULL without memory. `*count`: their number,
 * before and after. `slots`: from flow_check(). The first function begins with the shim's `shim`
 * instructions: its zeros follow them. */
struct bpf_insn *zeros_put(const struct bpf_insn *insns, size_t *count, size_t shim,
			   const uint64_t *slots);
/* The same for a program. Call it when libbpf prepares the load, after splice_module(). Returns 0,
 * or -errno. */
int zeros_insert(struct bpf_program *prog, struct bpf_prog_load_opts *opts, size_t shim,
		 const uint64_t *slots);

#endif
