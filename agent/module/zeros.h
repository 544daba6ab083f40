/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Zeros: functions of a module that may read their stack where they have written nothing begin by
 * writing zeros there, instead of finding what others left. What the kernel itself has proved
 * (proof.h) reads no such stack. In: a program as it is about to be loaded, and where that is
 * (flow.h). Out: the program with more instructions.
 */
#ifndef AGENT_MODULE_ZEROS_H
#define AGENT_MODULE_ZEROS_H

#include <bpf/libbpf.h>
#include <stddef.h>
#include <stdint.h>

/* Of `*count` instructions, with as many as they become in its place; the caller frees them.
 * `slots`: as of flow_check(). The first function begins with `shim` instructions that are not the
 * module's: its zeros come behind them. NULL: no memory. */
struct bpf_insn *zeros_put(const struct bpf_insn *insns, size_t *count, size_t shim,
			   const uint64_t *slots);
/* The same of a program. To be called where libbpf prepares the load, behind splice_module().
 * Returns 0, or -errno. */
int zeros_insert(struct bpf_program *prog, struct bpf_prog_load_opts *opts, size_t shim,
		 const uint64_t *slots);

#endif
