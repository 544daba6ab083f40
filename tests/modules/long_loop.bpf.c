// SPDX-License-Identifier: GPL-2.0
/* Ends, but long after the frame. */
// refused: wants to run in the kernel: refused: the verifier: BPF program is too large
#include <saluki/module.h>

int module(struct frame_view *v)
{
	volatile __u32 n = 0;

	for (__u32 i = 0; v && i < 100000000; i++)
		n += i;
	return n;
}
