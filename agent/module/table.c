// SPDX-License-Identifier: GPL-2.0
/* Table: see table.h. */
#include "table.h"

void module_table_sum(struct saluki_slot_table *t)
{
	t->modules = t->wanted = t->payload = t->sheds = t->reach = 0;
	for (int i = 0; i < SALUKI_MODULES_MAX; i++) {
		const struct saluki_slot *s = &t->slots[i];

		if (!s->used)
			continue;
		t->modules++;
		t->wanted |= s->shown;
		t->payload = s->payload > t->payload ? s->payload : t->payload;
		t->sheds |= s->sheds;
		t->reach = s->reach > t->reach ? s->reach : t->reach;
	}
}
