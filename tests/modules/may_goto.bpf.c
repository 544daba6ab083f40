// SPDX-License-Identifier: GPL-2.0
/* Has a loop that the verifier assumes to end, since Linux 6.9. */
// refused: may_goto): refused: no policy
#include <saluki/module.h>

int module(struct frame_view *v)
{
	asm volatile(".8byte 0x00000000000000e5" ::: "memory");
	return v != (void *)0;
}
