// SPDX-License-Identifier: GPL-2.0
/* Is called by another function of its own. */
// refused: refused: module() is called by another function, or by itself
#include <saluki/module.h>

__attribute__((noinline)) int module(struct frame_view *v);

static __attribute__((noinline)) int again(struct frame_view *v)
{
	return v->ttl ? module(v) : 0;
}

int module(struct frame_view *v)
{
	int more = again(v);

	asm volatile("" : "+r"(more));
	return more;
}
