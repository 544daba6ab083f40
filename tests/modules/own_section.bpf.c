// SPDX-License-Identifier: GPL-2.0
/* Is a program, not a function. */
// refused: wants a program of its own (section xdp): refused: a module is one function
#include <saluki/module.h>

SEC("xdp") int module(struct frame_view *v)
{
	return v != (void *)0;
}
