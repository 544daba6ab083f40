// SPDX-License-Identifier: GPL-2.0
/* Runs few instructions a million times, with a looping helper. */
// refused: wants a function as a callback: refused: no policy can grant it
#include <saluki/module.h>

static long inner(__u32 i, void *n)
{
	*(__u64 *)n += i;
	return 0;
}

static long outer(__u32 i, void *n)
{
	(void)i;
	bpf_loop(1000, inner, n, 0);
	return 0;
}

int module(struct frame_view *v)
{
	__u64 n = 0;

	if (v)
		bpf_loop(1000, outer, &n, 0);
	return n;
}
