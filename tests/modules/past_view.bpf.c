// SPDX-License-Identifier: GPL-2.0
/* Reads beyond the view. */
// refused: verifier: R1 min value is outside of the allowed memory range
#include <saluki/module.h>

int module(struct frame_view *v)
{
	if (!v)
		return 0;
	return *((volatile __u8 *)v + sizeof(*v));
}
