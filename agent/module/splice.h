/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Splice: the module in the place of the shim's call of it. In: the program that libbpf is about to
 * load, the shim (bpf/module.h) and behind it the module. Out: the same program without the call:
 * the shim looks for the view, and runs on into the module. A call and a return are a good part of
 * what protection costs (docs/bench.md); and the verifier then holds the module to the view itself,
 * which is never NULL.
 */
#ifndef AGENT_MODULE_SPLICE_H
#define AGENT_MODULE_SPLICE_H

#include <bpf/libbpf.h>

/* Of type libbpf_prog_prepare_load_fn_t. Returns 0; -EPROTO where `prog` is not made like that, or
 * calls the module elsewhere, too; -ERANGE where the module jumps into the shim. Nothing is changed
 * then. */
int splice_module(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie);

#endif
