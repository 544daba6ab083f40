// SPDX-License-Identifier: GPL-2.0
/* Has a map with a name of the capture. */
// refused: wants map saluki_view: refused: names with saluki_ are the capture's own
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} saluki_view SEC(".maps");

int module(struct frame_view *v)
{
	__u32 zero = 0;

	return v ? bpf_map_lookup_elem(&saluki_view, &zero) != (void *)0 : 0;
}
