// SPDX-License-Identifier: GPL-2.0
/* Allocates memory later. */
// refused: wants map grows (hash, 1000000 of 4 + 8 bytes): refused: its map_flags
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1000000);
	__type(key, __u32);
	__type(value, __u64);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} grows SEC(".maps");

int module(struct frame_view *v)
{
	__u32 zero = 0;

	return v ? bpf_map_lookup_elem(&grows, &zero) != (void *)0 : 0;
}
