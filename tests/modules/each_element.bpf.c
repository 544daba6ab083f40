// SPDX-License-Identifier: GPL-2.0
/* Iterates over a map with a callback. */
// refused: wants a function as a callback: refused: no policy can grant it
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

static long one(void *map, const void *key, void *value, void *n)
{
	(void)map;
	(void)key;
	(void)value;
	++*(__u64 *)n;
	return 0;
}

int module(struct frame_view *v)
{
	__u64 n = 0;

	if (v)
		bpf_for_each_map_elem(&counts, one, &n, 0);
	return n;
}
