// SPDX-License-Identifier: GPL-2.0
/* Reads as far as a number in the frame. */
// refused: wants to run in the kernel: refused: the verifier: R1 unbounded memory access
#include <saluki/module.h>

int module(struct frame_view *v)
{
	if (!v)
		return 0;
	return *((volatile __u8 *)v + v->frame_len);
}
