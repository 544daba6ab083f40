// SPDX-License-Identifier: GPL-2.0
/* Reads the current process. */
// refused: wants helper get_current_task: refused: no policy can grant it
#include <saluki/module.h>

int module(struct frame_view *v)
{
	return v ? bpf_get_current_task() : 0;
}
