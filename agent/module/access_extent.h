/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Access extent: how far into its view a module can read or write. In: a module's program, just
 * before it is loaded. Out: the smallest size of a view with which the kernel's verifier accepts
 * the program. Bytes beyond it need not be cleared or copied for each frame (bpf/view.h, mask.h).
 */
#ifndef AGENT_MODULE_ACCESS_EXTENT_H
#define AGENT_MODULE_ACCESS_EXTENT_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdint.h>

/* Call it when libbpf prepares the load, after splice_module(): by then maps are descriptors.
 * `view_fd`: the view's descriptor. Returns the end of a field group of struct frame_view, or the
 * whole size if the verifier accepts no smaller view. */
uint32_t access_extent_of(const struct bpf_program *prog, const struct bpf_prog_load_opts *opts,
			  int view_fd);

#endif
