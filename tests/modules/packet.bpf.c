// SPDX-License-Identifier: GPL-2.0
/* Reads the frame itself instead of the view. */
// refused: wants the packet itself: refused: no policy can grant it
#include <saluki/module.h>

unsigned long long load_byte(void *skb, unsigned long long off) asm("llvm.bpf.load.byte");

int module(struct frame_view *v)
{
	return v ? load_byte(v, 0) : 0;
}
