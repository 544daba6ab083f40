// SPDX-License-Identifier: GPL-2.0
/*
 * Ring: see ring.h. In: records. Out: the ring's bytes, and the sensors' numbers of frames. The
 * order of the stores is that of wire/live.h.
 */
#include "ring.h"

#include <string.h>

void ring_begin(struct live *l, struct live_record *r)
{
	struct live_ring *ring = l->ring;
	uint64_t end = ring->head + r->len;

	l->begin = ring->head % l->size;
	r->before = live_sensor(l, r->sensor)->frames;
	__atomic_store_n(&ring->writing, ring->writing + 1, __ATOMIC_RELAXED);
	if (end > l->size)
		live_store(&ring->floor, end - l->size);
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* store the floor before bytes change */
	ring_put(l, 0, r, sizeof(*r));
}

void ring_pass(struct live *l, uint32_t sensor, uint32_t frames)
{
	struct live_ring *ring = l->ring;
	struct live_sensor *s = live_sensor(l, sensor);

	__atomic_store_n(&ring->writing, ring->writing + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	live_store(&s->frames, s->frames + frames);
	__atomic_store_n(&ring->writing, ring->writing + 1, __ATOMIC_RELEASE);
}

void ring_put(struct live *l, uint32_t at, const void *data, size_t len)
{
	uint8_t *ring = (uint8_t *)l->ring + LIVE_DATA;
	uint64_t to = l->begin + at, begin = to < l->size ? to : to - l->size;
	size_t first = len <= l->size - begin ? len : l->size - begin;

	memcpy(ring + begin, data, first);
	memcpy(ring, (const uint8_t *)data + first, len - first);
}

void ring_end(struct live *l, const struct live_record *r, uint32_t frames)
{
	struct live_ring *ring = l->ring;
	struct live_sensor *s = live_sensor(l, r->sensor);

	live_store(&ring->head, ring->head + r->len);
	live_store(&s->frames, r->before + frames);
	__atomic_store_n(&ring->writing, ring->writing + 1, __ATOMIC_RELEASE);
}
