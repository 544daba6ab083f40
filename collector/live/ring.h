/* SPDX-License-Identifier: GPL-2.0 */
/* Ring: the writer's half of the protocol in wire/live.h. */
#ifndef COLLECTOR_LIVE_RING_H
#define COLLECTOR_LIVE_RING_H

#include <string.h>

#include "live.h"

/* Begins a record of `r->len` bytes at the ring's head. It fills in `r->before`. */
void ring_begin(struct live *l, struct live_record *r);
/* Copies bytes into the current record, at offset `at`. */
void ring_put(struct live *l, uint32_t at, const void *data, size_t len);
/* Overwrites four of its bytes, at a multiple of four. */
static inline void ring_put32(struct live *l, uint32_t at, uint32_t v)
{
	uint64_t to = l->begin + at;

	memcpy((uint8_t *)l->ring + LIVE_DATA + (to < l->size ? to : to - l->size), &v, 4);
}
/* Counts a combo's frames, without a record. */
void ring_pass(struct live *l, uint32_t sensor, uint32_t frames);
/* Publishes the record. `frames`: all of the combo, including those that are not in the record. */
void ring_end(struct live *l, const struct live_record *r, uint32_t frames);

static inline struct live_sensor *live_sensor(const struct live *l, uint32_t index)
{
	return (struct live_sensor *)((uint8_t *)l->table + LIVE_DATA) + index;
}

#endif
