// SPDX-License-Identifier: GPL-2.0
/* Count: counts frames by IP protocol. The smallest useful module. */
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

int module(struct frame_view *v)
{
	__u32 protocol;
	__u64 *count;

	protocol = v->ip_protocol; /* 0: no IP */
	count = bpf_map_lookup_elem(&counts, &protocol);
	if (count)
		(*count)++;
	return 0;
}
