/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Splice: replaces the shim's call by the module. In: the program that libbpf is about to load: the
 * shim (bpf/module.h), then the module. Out: the same program without the call: the shim looks the
 * view up and runs on into the module. Call and return are a large part of the protection's cost
 * (docs/bench.md). And the verifier then checks the module with the view itself, which is never
 * NULL.
 */
#ifndef AGENT_MODULE_SPLICE_H
#define AGENT_MODULE_SPLICE_H

#include <bpf/libbpf.h>

/* Of type libbpf_prog_prepare_load_fn_t. Returns 0; -EPROTO if `prog` has another form, or calls
 * the module elsewhere too; -ERANGE if the module jumps into the shim. After an error `prog` is
 * unchanged. */
int splice_module(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie);

#endif
