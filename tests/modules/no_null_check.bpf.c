// SPDX-License-Identifier: GPL-2.0
/* Forgets what every module must begin with. */
// refused: refused: the verifier asks whether v is NULL; begin with 'if (!v) return 0;'
#include <saluki/module.h>

int module(struct frame_view *v)
{
	return v->linktype;
}
