// SPDX-License-Identifier: GPL-2.0
/* Combos: see combos.h. */
#include "combos.h"

#include "reassemble.h"
#include "sensor.h"

int combos_init(struct combos *c)
{
	c->pool.limit = REASSEMBLE_POOL_LIMIT_DEFAULT;
	return decompress_init(&c->decompress);
}

void combos_free(struct combos *c)
{
	ahead_stop(&c->ahead);
	decompress_free(&c->decompress);
}

void combos_forget(struct combos *c, struct sensor *s)
{
	struct reassembly *r = &s->combo->reassembly;

	reassemble_start(r, &c->pool, r->next);
}
