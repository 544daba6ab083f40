// SPDX-License-Identifier: GPL-2.0
/* Jumps to the shim's call of a helper, which it is not granted itself, with its own map. */
// refused: wants to run in the kernel: refused: it jumps out of module()
#include <saluki/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u64);
} own SEC(".maps");

__attribute__((naked)) int module(struct frame_view *v)
{
	asm volatile("r3 = *(u64 *)(r10 - 16)\n"
		     "if r3 == 1 goto 1f\n"
		     "r3 = 1\n"
		     "*(u64 *)(r10 - 16) = r3\n"
		     "r2 = r10\n"
		     "r2 += -4\n"
		     "r1 = %[own] ll\n"
		     "goto -15\n"
		     "1: r0 = 0\n"
		     "exit\n" ::[own] "i"(&own));
}
