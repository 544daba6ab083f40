// SPDX-License-Identifier: GPL-2.0
/* Has a map of maps. */
// refused: wants map outer (array_of_maps, 2 of 4 + 4 bytes): refused: a map of maps
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 1);
			__type(key, __u32);
			__type(value, __u32);
		});
} outer SEC(".maps");

int module(struct frame_view *v)
{
	__u32 zero = 0;

	return v ? bpf_map_lookup_elem(&outer, &zero) != (void *)0 : 0;
}
