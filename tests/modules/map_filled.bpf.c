// SPDX-License-Identifier: GPL-2.0
/* Has maps stored in a map. */
// refused: wants maps or programs in a map: refused: remove 'values'
#include <saluki/module.h>

struct inner {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} first SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, struct inner);
} outer SEC(".maps") = { .values = { [0] = &first } };

int module(struct frame_view *v)
{
	__u32 zero = 0;

	return v ? bpf_map_lookup_elem(&outer, &zero) != (void *)0 : 0;
}
