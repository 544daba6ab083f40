// SPDX-License-Identifier: GPL-2.0
/* Has the kernel copy more than a value into a map: the bytes after it on the stack. */
// refused: its values are no whole words of 8 bytes
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u32);
} each SEC(".maps");

int module(struct frame_view *v)
{
	__u32 key = v->frame_len, value = 1;

	bpf_map_update_elem(&each, &key, &value, BPF_ANY);
	return 0;
}
