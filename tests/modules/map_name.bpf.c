// SPDX-License-Identifier: GPL-2.0
/* Has a map whose name would be two names in its consumer's list. */
// refused: wants map counts:7 other (array, 1 of 4 + 8 bytes): refused: its name has other
// characters
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} counts __asm__("counts:7 other") SEC(".maps");

int module(struct frame_view *v)
{
	__u32 zero = 0;

	return v && bpf_map_lookup_elem(&counts, &zero);
}
