// SPDX-License-Identifier: GPL-2.0
/* Does more a frame than it is let. */
// refused: instructions a frame, at most: refused: the policy grants 2000: Instructions =
#include <saluki/module.h>

int module(struct frame_view *v)
{
	volatile __u32 n = 0;

	for (__u32 i = 0; v && i < 1000; i++)
		n += i;
	return n;
}
