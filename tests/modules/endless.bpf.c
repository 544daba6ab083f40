// SPDX-License-Identifier: GPL-2.0
/* Loops for ever. */
// refused: wants to run in the kernel: refused: the verifier: infinite loop detected
#include <saluki/module.h>

int module(struct frame_view *v)
{
	while (v)
		((volatile struct frame_view *)v)->time_ns++;
	return 0;
}
