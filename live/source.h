/* SPDX-License-Identifier: GPL-2.0 */
/* Source: a collector's memories, mapped for reading (wire/live.h). Their content is untrusted. */
#ifndef LIVE_SOURCE_H
#define LIVE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "wire/live.h"

struct source {
	const struct live_ring *ring; /* NULL: no collector */
	const struct live_table *table;
	uint64_t size; /* bytes of the ring's data */
	int end;       /* the pipe, -1: none */
};

/* Maps the memories of LIVE_FDS descriptors, and closes those of the memories. Returns 0, or -errno
 * after a line with all of them closed. */
int source_map(struct source *s, const struct live_hello *hello, const int *fds);
void source_unmap(struct source *s);

static inline const uint8_t *source_data(const struct source *s)
{
	return (const uint8_t *)s->ring + LIVE_DATA;
}

static inline const struct live_sensor *source_sensors(const struct source *s)
{
	return (const struct live_sensor *)((const uint8_t *)s->table + LIVE_DATA);
}

static inline const uint8_t *source_half(const struct source *s, uint32_t generation)
{
	return (const uint8_t *)s->table + LIVE_HALVES + (size_t)(generation % 2) * LIVE_HALF;
}

#endif
