/* SPDX-License-Identifier: GPL-2.0 */
/* Pool: objects of one size. Memory grows in slabs and is kept until the pool is freed. */
#ifndef MERGE_AIR_POOL_H
#define MERGE_AIR_POOL_H

#include <stddef.h>

struct pool {
	size_t size; /* of an object, at least a pointer's; set by the caller */
	void *free;
	void **slabs;
	unsigned int count, room;
};

/* Returns an object, or NULL without memory. */
void *pool_get(struct pool *p);
void pool_put(struct pool *p, void *o);
void pool_free(struct pool *p);

#endif
