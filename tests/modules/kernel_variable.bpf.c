// SPDX-License-Identifier: GPL-2.0
/* Reads a kernel variable. */
// refused: wants runqueues from elsewhere (extern): refused:
#include <saluki/module.h>

extern const int runqueues __ksym;

int module(struct frame_view *v)
{
	return v ? *(const volatile int *)&runqueues : 0;
}
