// SPDX-License-Identifier: GPL-2.0
/* Reads the kernel's build configuration. */
// refused: wants CONFIG_HZ from elsewhere (extern): refused:
#include <saluki/module.h>

extern int CONFIG_HZ __kconfig;

int module(struct frame_view *v)
{
	return v ? CONFIG_HZ : 0;
}
