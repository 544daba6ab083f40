/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BPF ring buffer reader (kernel/bpf/ringbuf.c) that takes records first and releases their space
 * later. libbpf's reader releases a record when its callback returns; here the space is released
 * only when the record's combo is on its way. Needs no privilege, only the map's descriptor.
 */
#ifndef AGENT_RINGS_RING_H
#define AGENT_RINGS_RING_H

#include <stddef.h>
#include <stdint.h>

struct ring {
	uint64_t *consumer;	  /* read by the kernel: space before it is free */
	const uint64_t *producer; /* written by the kernel */
	const uint8_t *data;	  /* mapped twice in a row, so records never wrap */
	size_t size;		  /* bytes, a power of two */
	size_t page;
	uint64_t next;	   /* our position, at or after *consumer */
	uint64_t produced; /* last value of *producer, whose cache line the kernel writes */
	uint64_t limit;	   /* reading stops here; UINT64_MAX: no limit */
};

/* Maps the ring of `size` bytes of the map `map_fd`. Returns 0 or -errno. */
int ring_map(struct ring *r, int map_fd, size_t size);
void ring_unmap(struct ring *r);

/* Returns the next record and moves past it, or NULL if there is none. Skips discarded records. */
const void *ring_next(struct ring *r, size_t *len);
/* Returns the position after a record that lies at or after the position `from`. */
uint64_t ring_after(const struct ring *r, uint64_t from, const void *record);
uint64_t ring_produced(const struct ring *r);
/* Releases all space before `position`. */
void ring_release(struct ring *r, uint64_t position);

#endif
