// SPDX-License-Identifier: GPL-2.0
/* Leaves a mark all over its stack. */
#include <saluki/module.h>

int module(struct frame_view *v)
{
	volatile __u64 words[60];

	(void)v;
#pragma unroll
	for (int i = 0; i < 60; i++)
		words[i] = 0xa5a5a5a5a5a5a5a5;
	return 0;
}
