// SPDX-License-Identifier: GPL-2.0
/* Emits the source address of each frame, which is its number in tests. */
#include <saluki/module.h>

int module(struct frame_view *v)
{
	if (!v || !(v->has & VIEW_MAC))
		return 0;
	module_emit(v, v->addr[1], 6);
	return 0;
}
