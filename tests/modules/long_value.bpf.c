// SPDX-License-Identifier: GPL-2.0
/* Copies half a megabyte again and again, with one instruction each time. */
// refused: bytes): refused: a call takes too long with it
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u8[1 << 19]);
} large SEC(".maps");

int module(struct frame_view *v)
{
	__u32 zero = 0;
	void *value = v ? bpf_map_lookup_elem(&large, &zero) : (void *)0;

	if (!value)
		return 0;
#pragma unroll
	for (int i = 0; i < 100; i++)
		bpf_map_update_elem(&large, &zero, value, BPF_ANY);
	return 0;
}
