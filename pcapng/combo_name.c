// SPDX-License-Identifier: GPL-2.0
/* Combo name: see combo_name.h. */
#include "combo_name.h"

#include "common/pcapng_format.h"
#include "wire/bytes.h"

bool combo_name_read(struct combo_name *n, const uint8_t *p, size_t len)
{
	if ((len != NAME_LEN && len != NAME_LEN_EVENTS && len != NAME_LEN_REFUSED) ||
	    load_be(p, 4) != ENTERPRISE)
		return false;
	n->run = load_be(p + 4, 8);
	n->count = load_be(p + 12, 8);
	n->first = load_be(p + 20, 8);
	n->frames = load_be(p + 28, 4);
	n->sensor = load_be(p + 32, 2);
	n->events = len == NAME_LEN ? 0 : load_be(p + NAME_LEN, 2);
	n->refused = len == NAME_LEN_REFUSED ? load_be(p + NAME_LEN_EVENTS, 4) : 0;
	return n->refused <= n->frames;
}

bool combo_place_block(struct combo_place *p, const struct combo_name *name)
{
	if (name)
		*p = (struct combo_place){ .name = *name,
					   .left = name->frames - name->refused + name->events };
	return p->left && !--p->left;
}
