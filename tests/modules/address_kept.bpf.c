// SPDX-License-Identifier: GPL-2.0
/* Has a helper copy an address of kernel memory from its stack into a map. */
// refused: wants to run in the kernel: refused: it makes data of an address on its stack
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} own SEC(".maps");

int module(struct frame_view *v)
{
	__u64 word = (__u64)(unsigned long)v;
	__u32 zero = 0;

	bpf_map_update_elem(&own, &zero, &word, BPF_ANY);
	return 0;
}
