// SPDX-License-Identifier: GPL-2.0
/* Has a value with a pointer that the kernel keeps. */
// refused: wants to be known by its types (BTF): refused: it has a type of which the kernel makes
// something
#include <saluki/module.h>

struct task_struct;
struct value {
	struct task_struct __attribute__((btf_type_tag("kptr"))) * task;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct value);
} tasks SEC(".maps");

int module(struct frame_view *v)
{
	__u32 zero = 0;

	return v && bpf_map_lookup_elem(&tasks, &zero);
}
