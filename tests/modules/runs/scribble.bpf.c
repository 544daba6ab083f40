// SPDX-License-Identifier: GPL-2.0
/* Writes over all of its view, and says nothing. It does not ask whether there is one: there is. */
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
