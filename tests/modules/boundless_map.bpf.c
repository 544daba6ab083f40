// SPDX-License-Identifier: GPL-2.0
/* Requests more memory than a counter holds. */
// refused: wants map memory without a bound: refused: make the maps smaller
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 0xffffffff);
	__type(key, __u32);
	__type(value, __u64);
} huge SEC(".maps");

int module(struct frame_view *v)
{
	__u32 zero = 0;

	return v ? bpf_map_lookup_elem(&huge, &zero) != (void *)0 : 0;
}
