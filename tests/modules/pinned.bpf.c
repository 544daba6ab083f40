// SPDX-License-Identifier: GPL-2.0
/* Shares a map under a name visible to all. */
// refused: wants map shared (array, 16 of 4 + 8 bytes): refused: its map would be pinned
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, __u64);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} shared SEC(".maps");

int module(struct frame_view *v)
{
	__u32 zero = 0;

	return v ? bpf_map_lookup_elem(&shared, &zero) != (void *)0 : 0;
}
