// SPDX-License-Identifier: GPL-2.0
/* Calls another program. */
// refused: wants helper tail_call: refused: no policy can grant it
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u32);
} programs SEC(".maps");

int module(struct frame_view *v)
{
	if (v)
		bpf_tail_call(v, &programs, 0);
	return 0;
}
