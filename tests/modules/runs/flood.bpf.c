// SPDX-License-Identifier: GPL-2.0
/* Emits as many events as it can, and one longer than allowed. */
#include <saluki/module.h>

int module(struct frame_view *v)
{
	if (!v)
		return 0;
	__builtin_memset(v->event, 0x21, sizeof(v->event));
	v->event_len = ~0ULL;
	return 0;
}
