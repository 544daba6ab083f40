// SPDX-License-Identifier: GPL-2.0
/* Keeps the view for a later frame. */
// refused: wants to run in the kernel: refused: the verifier: R1 invalid mem access
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} kept SEC(".maps");

int module(struct frame_view *v)
{
	__u32 zero = 0;
	__u64 *k = bpf_map_lookup_elem(&kept, &zero);

	if (!v || !k)
		return 0;
	return *(volatile __u8 *)*k; /* as if it were one */
}
