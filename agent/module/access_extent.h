/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Access extent: how far into its view a module reads or writes. In: a module's program, as it is
 * about to be loaded. Out: the bytes from the view's first that the kernel's verifier does not let
 * it past: it is shown a view that ends there, and takes the program. What is behind them no frame
 * needs to be cleared of, or copied (bpf/view.h, mask.h).
 */
#ifndef AGENT_MODULE_ACCESS_EXTENT_H
#define AGENT_MODULE_ACCESS_EXTENT_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdint.h>

/* To be called where libbpf prepares the load, behind splice_module(): its maps are descriptors by
 * then. `view_fd`: that of its view. Returns the end of a group of fields of struct frame_view; of
 * all of it where the verifier takes no less, or nothing at all. */
uint32_t access_extent_of(const struct bpf_program *prog, const struct bpf_prog_load_opts *opts,
			  int view_fd);

#endif
