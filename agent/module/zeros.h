/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Zeros: functions of a module that may read their stack where they have written nothing begin by
 * writing zeros all over it, instead of finding what others left there. In: a program as it is
 * about to be loaded, and which functions these are (flow.h). Out: the program with more
 * instructions.
 */
#ifndef AGENT_MODULE_ZEROS_H
#define AGENT_MODULE_ZEROS_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>

/* To be called where libbpf prepares the load, behind splice_module(): its maps are descriptors by
 * then. `functions`: of each instruction whether it is the first of such a function; the first of
 * all stands for the module itself, which begins behind `shim` of them. Returns 0, or -errno; where
 * the verifier does not take the program as it is, 0 with nothing done. */
int zeros_insert(struct bpf_program *prog, struct bpf_prog_load_opts *opts, size_t shim,
		 const bool *functions);

#endif
