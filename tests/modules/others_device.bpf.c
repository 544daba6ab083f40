// SPDX-License-Identifier: GPL-2.0
/* Sends frames to another interface. */
// refused: wants map devices (devmap, 4 of 4 + 4 bytes): refused: no policy can grant
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u32);
} devices SEC(".maps");

int module(struct frame_view *v)
{
	__u32 zero = 0;

	return v ? bpf_map_lookup_elem(&devices, &zero) != (void *)0 : 0;
}
