// SPDX-License-Identifier: GPL-2.0
/* Follows its map's address into kernel structures, as root may since Linux 5.9: its first word
 * points to the kernel's functions for maps. */
// refused: wants to run in the kernel: refused: it follows the address of a map
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} own SEC(".maps");

int module(struct frame_view *v)
{
	__u64 word;

	asm volatile("%0 = %[own] ll\n%0 = *(u64 *)(%0 + 0)" : "=r"(word) : [own] "i"(&own));
	if (word)
		v->event_len = 1;
	return 0;
}
