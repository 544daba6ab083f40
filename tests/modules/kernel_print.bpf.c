// SPDX-License-Identifier: GPL-2.0
/* Reads kernel memory through a helper that prints strings: %s. */
// refused: wants helper snprintf: refused: no policy can grant it
#include <saluki/module.h>

static const char how[] = "%s";

int module(struct frame_view *v)
{
	__u64 what[] = { 0xffffffff81000000 };

	return v ? bpf_snprintf((char *)v->event, 8, how, what, sizeof(what)) : 0;
}
