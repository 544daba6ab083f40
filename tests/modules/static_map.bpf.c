// SPDX-License-Identifier: GPL-2.0
/* Has a map that no one can find. */
// refused: wants map own: refused: it is static
#include <saluki/module.h>

static struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} own SEC(".maps");

int module(struct frame_view *v)
{
	__u32 zero = 0;

	return v && bpf_map_lookup_elem(&own, &zero);
}
