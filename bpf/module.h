/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shim: calls a module with its view. In: a view that bpf/modules.bpf.c filled. Out: the module has
 * run. agent/module/link.c links the shim with the module's object, and agent/module/splice.c
 * replaces the call by the module's code. The view's pointer is all that a module gets, so the
 * verifier restricts the module to the view.
 */
#ifndef SALUKI_BPF_MODULE_H
#define SALUKI_BPF_MODULE_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include <saluki/module.h>

/* agent/module/load.c replaces this map by the capture's map. */
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
