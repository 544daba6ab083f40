// SPDX-License-Identifier: GPL-2.0
/* Requests the capture's map by its name. */
// refused: wants saluki_view from elsewhere (extern): refused:
#include <saluki/module.h>

extern struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct frame_view);
} saluki_view SEC(".maps");

int module(struct frame_view *v)
{
	__u32 zero = 0;

	return v ? bpf_map_lookup_elem(&saluki_view, &zero) != (void *)0 : 0;
}
