// SPDX-License-Identifier: GPL-2.0
/* Overwrites its whole view, and emits no event. It needs no check whether the view exists. */
#include <saluki/module.h>

int module(struct frame_view *v)
{
	__u64 *words = (__u64 *)v;

#pragma unroll
	for (unsigned int i = 0; i < sizeof(*v) / 8; i++)
		words[i] = 0x5a5a5a5a5a5a5a5a;
	v->event_len = 0;
	return 0;
}
