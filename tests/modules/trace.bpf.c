// SPDX-License-Identifier: GPL-2.0
/* Prints to the trace pipe. */
// refused: wants helper trace_printk: refused: no policy can grant it
#include <saluki/module.h>

int module(struct frame_view *v)
{
	static const char how[] = "%s";

	return v ? bpf_trace_printk(how, sizeof(how), v) : 0;
}
