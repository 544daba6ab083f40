// SPDX-License-Identifier: GPL-2.0
/* Finds an address of kernel memory bit by bit: it asks whether it is below a number. */
// refused: wants to run in the kernel: refused: it compares an address
#include <saluki/module.h>

int module(struct frame_view *v)
{
	__u64 below = 0;

	asm volatile("if %[v] < %[guess] goto +1\n"
		     "goto +1\n"
		     "%[below] = 1\n"
		     : [below] "+r"(below)
		     : [v] "r"(v), [guess] "r"(v->label));
	module_emit(v, &below, sizeof(below));
	return 0;
}
