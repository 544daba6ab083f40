// SPDX-License-Identifier: GPL-2.0
/* Reads the view of another CPU, which may show another module's fields. A reference to the section
 * of maps would mean the first of them, which is the capture's. */
// refused: wants to be linked: refused: .text: its references are not those of clang
#include <saluki/module.h>

int module(struct frame_view *v)
{
	struct frame_view *other;
	__u32 zero = 0;
	void *view;

	asm volatile("%0 = .maps ll" : "=r"(view));
	other = bpf_map_lookup_elem(view, &zero);
	if (other)
		module_emit(v, other->saddr, sizeof(other->saddr));
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} own SEC(".maps");
