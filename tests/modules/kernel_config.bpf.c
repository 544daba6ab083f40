// SPDX-License-Identifier: GPL-2.0
/* Asks how the kernel was built. */
// refused: wants CONFIG_HZ from elsewhere (extern): refused:
#include <saluki/module.h>

extern int CONFIG_HZ __kconfig;

int module(struct frame_view *v)
{
	return v ? CONFIG_HZ : 0;
}
