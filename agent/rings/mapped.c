// SPDX-License-Identifier: GPL-2.0
/* Mapped ring reader: see mapped.h. */
#include "mapped.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAPPED_MEMORY_PART 64

size_t mapped_value_size(uint64_t size)
{
	return size + SALUKI_MAPPED_EXTRA;
}

bool mapped_affordable(uint64_t size, uint32_t lanes, uint64_t memory)
{
	return size * lanes <= memory / MAPPED_MEMORY_PART;
}

int mapped_init(struct mapped *m, uint8_t *memory, uint64_t size, uint32_t lanes)
{
	memset(m, 0, sizeof(*m));
	m->size = size;
	m->lanes_len = lanes;
	m->lanes = calloc(lanes, sizeof(*m->lanes));
	m->ready = calloc(lanes, sizeof(struct mapped_lane *));
	if (!m->lanes || !m->ready) {
		mapped_unmap(m);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < lanes; i++) {
		m->lanes[i].ring = (void *)(memory + i * mapped_value_size(size));
		m->lanes[i].next = m->lanes[i].produced = m->lanes[i].ring->tail;
		m->lanes[i].limit = UINT64_MAX;
	}
	return 0;
}

int mapped_map(struct mapped *m, int map_fd, uint64_t size, uint32_t lanes)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t len = (lanes * mapped_value_size(size) + page - 1) & ~(page - 1);
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	int err;

	memset(m, 0, sizeof(*m));
	if (p == MAP_FAILED)
		return -errno;
	err = mapped_init(m, p, size, lanes);
	if (err) {
		munmap(p, len);
		return err;
	}
	m->memory = p;
	m->memory_len = len;
	return 0;
}

void mapped_unmap(struct mapped *m)
{
	if (m->memory)
		munmap(m->memory, m->memory_len);
	free(m->lanes);
	free(m->ready);
	memset(m, 0, sizeof(*m));
}

static const struct saluki_record *record_at(const struct mapped *m, const struct mapped_lane *l)
{
	return (const void *)(l->ring->data + (l->next & (m->size - 1)));
}

static void take(struct mapped *m, struct mapped_lane *l)
{
	uint64_t next = saluki_mapped_next(l->next, record_at(m, l)->kept_len, m->size);

	m->taken += next - l->next;
	l->next = next;
	if (l->next == l->produced)
		m->ready_len = 0;
}

static void look(struct mapped_lane *l)
{
	uint64_t head =
		__atomic_load_n(&l->ring->head, __ATOMIC_ACQUIRE); /* pairs with mapped_publish */

	l->produced = head < l->limit ? head : l->limit;
	if (l->produced < l->next)
		l->produced = l->next; /* damaged memory */
}

/* Looks at the lanes that had no record. Needed only when a lane runs out: until then, a record
 * that they get is newer than all records to take. Idle CPUs thus cost nothing per record. */
static void look_at_all(struct mapped *m)
{
	for (struct mapped_lane *l = m->lanes; l < m->lanes + m->lanes_len; l++) {
		if (l->next == l->produced)
			look(l);
		if (l->next != l->produced)
			m->ready[m->ready_len++] = l;
	}
}

/* Chooses the lane with the oldest record, and until when it stays the oldest. */
static struct mapped_lane *oldest(struct mapped *m)
{
	struct mapped_lane *best = NULL;
	uint64_t best_ns = UINT64_MAX;

	m->until_ns = UINT64_MAX;
	if (!m->ready_len)
		look_at_all(m);
	for (uint32_t i = 0; i < m->ready_len; i++) {
		uint64_t ns = record_at(m, m->ready[i])->time_ns;

		if (!best || ns < best_ns) {
			m->until_ns = best_ns;
			best_ns = ns;
			best = m->ready[i];
		} else if (ns < m->until_ns) {
			m->until_ns = ns;
		}
	}
	return best;
}

const struct saluki_record *mapped_next(struct mapped *m)
{
	const struct saluki_record *r;

	if (m->lane) {
		take(m, m->lane);
		r = record_at(m, m->lane);
		if (m->lane->next != m->lane->produced && r->time_ns <= m->until_ns)
			return r;
	}
	m->lane = oldest(m);
	return m->lane ? record_at(m, m->lane) : NULL;
}

void mapped_mark(struct mapped *m, bool with_last, __u64 *mark)
{
	if (with_last && m->lane) {
		take(m, m->lane);
		m->lane = NULL;
	}
	for (uint32_t i = 0; i < m->lanes_len; i++)
		mark[i] = m->lanes[i].next;
}

void mapped_pass(const struct mapped *m, __u64 *mark, const struct saluki_record *r,
		 uint32_t kept_len)
{
	size_t lane = ((const uint8_t *)r - (const uint8_t *)m->lanes[0].ring) /
		      mapped_value_size(m->size);

	mark[lane] = saluki_mapped_next(mark[lane], kept_len, m->size);
}

void mapped_release(struct mapped *m, const __u64 *mark)
{
	for (uint32_t i = 0; i < m->lanes_len; i++)
		__atomic_store_n(&m->lanes[i].ring->tail, mark[i], __ATOMIC_RELEASE);
}

void mapped_limit(struct mapped *m, const __u64 *mark)
{
	for (uint32_t i = 0; i < m->lanes_len; i++)
		m->lanes[i].limit = mark ? mark[i] : UINT64_MAX;
	m->ready_len = 0;
}

uint64_t mapped_used(const struct mapped *m)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < m->lanes_len; i++) {
		const struct saluki_mapped *r = m->lanes[i].ring;
		uint64_t used = __atomic_load_n(&r->head, __ATOMIC_RELAXED) -
				__atomic_load_n(&r->tail, __ATOMIC_RELAXED);

		most = used > most ? used : most;
	}
	return most;
}

bool mapped_sleep(struct mapped *m, uint64_t bytes)
{
	bool sleep = true;

	for (uint32_t i = 0; i < m->lanes_len; i++)
		__atomic_store_n(&m->lanes[i].ring->wake_at, m->lanes[i].next + bytes,
				 __ATOMIC_RELAXED);
	/* The request must be visible before the head is read, or both sides could miss the
	 * other. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < m->lanes_len; i++)
		if (__atomic_load_n(&m->lanes[i].ring->head, __ATOMIC_ACQUIRE) >=
		    m->lanes[i].next + bytes)
			sleep = false;
	return sleep;
}

void mapped_awake(struct mapped *m)
{
	for (uint32_t i = 0; i < m->lanes_len; i++)
		__atomic_store_n(&m->lanes[i].ring->wake_at, UINT64_MAX, __ATOMIC_RELAXED);
}
