// SPDX-License-Identifier: GPL-2.0
/* A trie in which each key begins as the one before: a lookup goes through all. */
// refused: map trie (lpm_trie, 2048 of 260 + 1 bytes): refused: a call takes too long with it
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 2048);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32[65]);
	__type(value, __u8);
} trie SEC(".maps");

static __u32 key[65], deep;

int module(struct frame_view *v)
{
	__u8 value = 1;

	if (!v)
		return 0;
	if (deep < 2048) {
		key[0] = ++deep;
		bpf_map_update_elem(&trie, key, &value, BPF_ANY);
		return 0;
	}
#pragma unroll
	for (int i = 0; i < 100; i++)
		v->ttl += bpf_map_lookup_elem(&trie, key) != (void *)0;
	return 0;
}
