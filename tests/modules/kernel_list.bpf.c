// SPDX-License-Identifier: GPL-2.0
/* Has a value in which the kernel keeps a list: a reader of the map gets the list's addresses. */
// refused: wants to be known by its types (BTF): refused: it has a type of which the kernel makes
// something
#include <saluki/module.h>

struct bpf_list_head {
	__u64 opaque[2];
} __attribute__((aligned(8)));

struct value {
	struct bpf_spin_lock lock;
	struct bpf_list_head head __attribute__((btf_decl_tag("contains:value:lock")));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct value);
} lists SEC(".maps");

int module(struct frame_view *v)
{
	__u32 zero = 0;

	return v && bpf_map_lookup_elem(&lists, &zero);
}
