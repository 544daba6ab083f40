// SPDX-License-Identifier: GPL-2.0
/* Has a filter whose every lookup computes 15 hashes of 256 bytes. */
// refused: wants map seen (bloom_filter, 1024 of 0 + 256 bytes): refused: a call takes too long
// with it
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_BLOOM_FILTER);
	__uint(max_entries, 1024);
	__uint(map_extra, 15);
	__type(value, __u8[256]);
} seen SEC(".maps");

int module(struct frame_view *v)
{
	return v && bpf_map_peek_elem(&seen, v->payload);
}
