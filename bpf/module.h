/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shim: what stands between a module and the capture. In: the view of a frame, which
 * bpf/modules.bpf.c has filled. Out: the module runs. It is linked with the module's object
 * (agent/module/link.c), which takes the place of the call in it (agent/module/splice.c), and the
 * verifier then holds the module to the view: its pointer is all that it is given.
 */
#ifndef SALUKI_BPF_MODULE_H
#define SALUKI_BPF_MODULE_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include <saluki/module.h>

/* That of the capture: agent/module/load.c. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct frame_view);
} saluki_view SEC(".maps");

static __always_inline int module_call(void)
{
	__u32 zero = 0;
	struct frame_view *v = bpf_map_lookup_elem(&saluki_view, &zero);

	if (v)
		module(v);
	return 0;
}

#endif
