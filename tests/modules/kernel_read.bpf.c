// SPDX-License-Identifier: GPL-2.0
/* Reads kernel memory. */
// refused: wants helper probe_read_kernel: refused: no policy can grant it
#include <saluki/module.h>

int module(struct frame_view *v)
{
	__u64 word = 0;

	if (v)
		bpf_probe_read_kernel(&word, sizeof(word), (void *)0xffffffff81000000);
	return word;
}
