// SPDX-License-Identifier: GPL-2.0
/* Requests all memory. */
// refused: wants map memory, at most 819
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1024 * 1024 * 10);
	__type(key, __u32);
	__type(value, __u64);
} huge SEC(".maps");

int module(struct frame_view *v)
{
	__u32 zero = 0;

	return v ? bpf_map_lookup_elem(&huge, &zero) != (void *)0 : 0;
}
