// SPDX-License-Identifier: GPL-2.0
/* Requests the offset of a kernel field (CO-RE). */
// refused: wants to be known by its types (BTF): refused: it asks for the kernel's own types
#include <saluki/module.h>

struct task_struct {
	int pid;
} __attribute__((preserve_access_index));

int module(struct frame_view *v)
{
	return v ? ((struct task_struct *)v)->pid : 0;
}
