/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reader of a BPF ring buffer (kernel/bpf/ringbuf.c) that takes records and gives their space
 * back separately: libbpf's reader releases a record as soon as its callback returns, and here
 * space is released only when the combo made of it is on its way. Needs no privilege, just the
 * map's descriptor.
 */
#ifndef AGENT_RINGS_RING_H
#define AGENT_RINGS_RING_H

#include <stddef.h>
#include <stdint.h>

struct ring {
	uint64_t *consumer;	  /* the kernel reads it: space in front of it is free */
	const uint64_t *producer; /* the kernel writes it */
	const uint8_t *data;	  /* mapped twice in a row, so records never wrap */
	size_t size;		  /* bytes, a power of two */
	size_t page;
	uint64_t next;	   /* our own position, at or ahead of *consumer */
	uint64_t produced; /* *producer as last read: its cache line is the kernel's */
	uint64_t limit;	   /* not read beyond; UINT64_MAX: no bound */
};

/* Maps the ring of `size` bytes behind `map_fd`. Returns 0 or -errno. */
int ring_map(struct ring *r, int map_fd, size_t size);
void ring_unmap(struct ring *r);

/* Returns the next record and moves behind it, or NULL where the producer has not got
 * further. Records that were discarded are passed over. */
const void *ring_next(struct ring *r, size_t *len);
uint64_t ring_produced(const struct ring *r);
/* Gives everything in front of `position` back to the kernel. */
void ring_release(struct ring *r, uint64_t position);

#endif
