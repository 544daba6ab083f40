// SPDX-License-Identifier: GPL-2.0
/* Computes a checksum of half a megabyte with one instruction. */
// refused: wants helper csum_diff: refused: no policy can grant it
#include <saluki/module.h>

static __u32 large[1 << 17];

int module(struct frame_view *v)
{
	return v ? bpf_csum_diff(large, sizeof(large), (void *)0, 0, 0) : 0;
}
