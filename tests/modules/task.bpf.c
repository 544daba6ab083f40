// SPDX-License-Identifier: GPL-2.0
/* Looks at the process that is there at the moment. */
// refused: wants helper get_current_task: refused: no policy can grant it
#include <saluki/module.h>

int module(struct frame_view *v)
{
	return v ? bpf_get_current_task() : 0;
}
