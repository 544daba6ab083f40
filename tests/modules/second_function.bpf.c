// SPDX-License-Identifier: GPL-2.0
/* Has a second global function, which the verifier would check separately. */
// refused: wants another function than module (other): refused: make it static
#include <saluki/module.h>

__attribute__((noinline)) int other(int n)
{
	return n + 1;
}

int module(struct frame_view *v)
{
	return v ? other(v->linktype) : 0;
}
