// SPDX-License-Identifier: GPL-2.0
/* Can be replaced when linked. */
// refused: wants another function than module (module): refused: make it static
#include <saluki/module.h>

__attribute__((weak)) int module(struct frame_view *v)
{
	return v != (void *)0;
}
