/* SPDX-License-Identifier: GPL-2.0 */
/* Chunk: memory with users, who release it. */
#ifndef MERGE_MODEL_CHUNK_H
#define MERGE_MODEL_CHUNK_H

#include <stdlib.h>

#include "reception.h"

/* Returns a chunk with one user, or NULL without memory. */
static inline struct chunk *chunk_make(size_t size)
{
	struct chunk *c = malloc(sizeof(*c) + size);

	if (c) {
		c->users = 1;
		c->size = size;
	}
	return c;
}

static inline struct chunk *chunk_hold(struct chunk *c)
{
	c->users++;
	return c;
}

static inline void chunk_release(struct chunk *c)
{
	if (c && !--c->users)
		free(c);
}

#endif
