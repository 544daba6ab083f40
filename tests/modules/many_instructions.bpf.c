// SPDX-License-Identifier: GPL-2.0
/* Runs more instructions per frame than granted. */
// refused: instructions a frame, at most: refused: the policy grants 2000: Instructions =
#include <saluki/module.h>

int module(struct frame_view *v)
{
	volatile __u32 n = 0;

	for (__u32 i = 0; v && i < 1000; i++)
		n += i;
	return n;
}
