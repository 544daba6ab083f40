// SPDX-License-Identifier: GPL-2.0
/* Emits an address of kernel memory: that of its view. */
// refused: wants to run in the kernel: refused: it leaves an address where others can read it
#include <saluki/module.h>

int module(struct frame_view *v)
{
	__u64 word = (__u64)(unsigned long)v;

	module_emit(v, &word, sizeof(word));
	return 0;
}
