// SPDX-License-Identifier: GPL-2.0
/* Calls a kernel function. */
// refused: wants bpf_ct_release from elsewhere (extern): refused:
#include <saluki/module.h>

extern void bpf_ct_release(void *ct) __ksym;

int module(struct frame_view *v)
{
	if (v)
		bpf_ct_release(v);
	return 0;
}
