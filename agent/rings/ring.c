// SPDX-License-Identifier: GPL-2.0
/* BPF ring buffer reader: see ring.h. The layout is as in linux/bpf.h and libbpf's ringbuf.c: a
 * writable page with the consumer position, a read-only page with the producer position, then the
 * data twice. Every record has an 8-byte header: length and two flags, page offset. */
#include "ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int ring_map(struct ring *r, int map_fd, size_t size)
{
	void *p;

	memset(r, 0, sizeof(*r));
	r->size = size;
	r->page = sysconf(_SC_PAGESIZE);
	p = mmap(NULL, r->page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	r->consumer = p;
	p = mmap(NULL, r->page + 2 * size, PROT_READ, MAP_SHARED, map_fd, r->page);
	if (p == MAP_FAILED) {
		int err = -errno;

		ring_unmap(r);
		return err;
	}
	r->producer = p;
	r->data = (const uint8_t *)p + r->page;
	r->next = __atomic_load_n(r->consumer, __ATOMIC_ACQUIRE);
	r->limit = UINT64_MAX;
	return 0;
}

void ring_unmap(struct ring *r)
{
	if (r->producer)
		munmap((void *)r->producer, r->page + 2 * r->size);
	if (r->consumer)
		munmap(r->consumer, r->page);
	memset(r, 0, sizeof(*r));
}

uint64_t ring_produced(const struct ring *r)
{
	return __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
}

static uint64_t record_len(uint32_t word)
{
	return ((word & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT)) + BPF_RINGBUF_HDR_SZ +
		7) &
	       ~7ULL;
}

uint64_t ring_after(const struct ring *r, uint64_t from, const void *record)
{
	const uint8_t *head = (const uint8_t *)record - BPF_RINGBUF_HDR_SZ;
	uint64_t ahead = ((uint64_t)(head - r->data) - from) & (r->size - 1);

	return from + ahead + record_len(*(const uint32_t *)head);
}

const void *ring_next(struct ring *r, size_t *len)
{
	for (;;) {
		const uint8_t *record = r->data + (r->next & (r->size - 1));
		uint32_t word;

		if (r->next >= r->limit)
			return NULL;
		if (r->next >= r->produced && r->next >= (r->produced = ring_produced(r)))
			return NULL;
		/* Pairs with the kernel's release of the length at commit. */
		word = __atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE);
		if (word & BPF_RINGBUF_BUSY_BIT)
			return NULL; /* reserved, not committed yet: keep the order */
		*len = word & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		r->next += record_len(word);
		if (!(word & BPF_RINGBUF_DISCARD_BIT))
			return record + BPF_RINGBUF_HDR_SZ;
	}
}

void ring_release(struct ring *r, uint64_t position)
{
	__atomic_store_n(r->consumer, position, __ATOMIC_RELEASE);
}
