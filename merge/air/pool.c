// SPDX-License-Identifier: GPL-2.0
/* Pool: see pool.h. */
#include "pool.h"

#include <stdbool.h>
#include <stdlib.h>

#define SLAB 1024 /* objects */

static bool grow(struct pool *p)
{
	void **more;
	char *slab;

	if (p->count == p->room) {
		more = realloc(p->slabs, (2 * p->room + 8) * sizeof(*more));
		if (!more)
			return false;
		p->slabs = more;
		p->room = 2 * p->room + 8;
	}
	slab = malloc(SLAB * p->size);
	if (!slab)
		return false;
	p->slabs[p->count++] = slab;
	for (int i = 0; i < SLAB; i++)
		pool_put(p, slab + i * p->size);
	return true;
}

void *pool_get(struct pool *p)
{
	void *got;

	if (!p->free && !grow(p))
		return NULL;
	got = p->free;
	p->free = *(void **)got;
	return got;
}

void pool_put(struct pool *p, void *o)
{
	*(void **)o = p->free;
	p->free = o;
}

void pool_free(struct pool *p)
{
	for (unsigned int i = 0; i < p->count; i++)
		free(p->slabs[i]);
	free(p->slabs);
	*p = (struct pool){ .size = p->size };
}
