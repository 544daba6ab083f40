// SPDX-License-Identifier: GPL-2.0
/* Has no function named module. */
// refused: wants to be called otherwise: refused: a module is one function
#include <saluki/module.h>

int modul(struct frame_view *v)
{
	return v != (void *)0;
}
