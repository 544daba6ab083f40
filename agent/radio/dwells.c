// SPDX-License-Identifier: GPL-2.0
/* Dwells: see dwells.h. */
#include "dwells.h"

#include <errno.h>
#include <stdlib.h>

#include "common/changes.h"

int dwells_add(struct dwells *d, unsigned int i)
{
	d->histories[i] = calloc(1, sizeof(*d->histories[i]));
	return d->histories[i] ? 0 : -ENOMEM;
}

void dwells_free(struct dwells *d)
{
	for (unsigned int i = 0; i < INTERFACES_MAX; i++)
		free(d->histories[i]);
}

void dwells_begin(struct dwells *d, unsigned int i, uint64_t begin_ns)
{
	struct dwells_history *h = d->histories[i];
	struct dwells_window *w = &h->now.list[h->now.count % DWELLS_WINDOWS];

	changes_begin(&h->changes);
	w->begin_ns = begin_ns;
	w->end_ns = UINT64_MAX;
	h->now.count++;
	changes_end(&h->changes);
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* visible before the next step */
}

void dwells_settled(struct dwells *d, unsigned int i, uint64_t end_ns)
{
	struct dwells_history *h = d->histories[i];

	if (!h->now.count)
		return;
	changes_begin(&h->changes);
	h->now.list[(h->now.count - 1) % DWELLS_WINDOWS].end_ns = end_ns;
	changes_end(&h->changes);
}

bool dwells_push(struct dwells *d, const struct dwell *dwell, uint64_t ended_ns)
{
	unsigned int tail = __atomic_load_n(&d->tail, __ATOMIC_ACQUIRE);

	if (d->head - tail == DWELLS_RING)
		return false;
	d->ring[d->head % DWELLS_RING].ended_ns = ended_ns;
	d->ring[d->head % DWELLS_RING].dwell = *dwell;
	__atomic_store_n(&d->head, d->head + 1, __ATOMIC_RELEASE);
	return true;
}

/* Searches the newest windows first, as most frames come after the last one. */
static bool lies_in_a_window(const struct dwells_history *h, uint64_t heard_ns)
{
	uint64_t count = h->known.count;

	for (unsigned int k = 0; k < DWELLS_WINDOWS && k < count; k++) {
		const struct dwells_window *w = &h->known.list[(count - 1 - k) % DWELLS_WINDOWS];

		if (heard_ns >= w->begin_ns)
			return heard_ns < w->end_ns;
	}
	return count > DWELLS_WINDOWS; /* forgotten: assume yes */
}

bool dwells_unsettled(struct dwells *d, unsigned int i, uint64_t heard_ns)
{
	struct dwells_history *h = i < INTERFACES_MAX ? d->histories[i] : NULL;
	unsigned int changes;

	if (!h)
		return false;
	changes = __atomic_load_n(&h->changes, __ATOMIC_ACQUIRE);
	if (changes != h->known_changes) {
		changes_read(&h->changes, &h->known, &h->now, sizeof(h->known));
		h->known_changes = changes; /* may be too low: then it is read again */
	}
	return lies_in_a_window(h, heard_ns);
}

const struct dwell *dwells_front(const struct dwells *d, uint64_t until_ns)
{
	unsigned int head = __atomic_load_n(&d->head, __ATOMIC_ACQUIRE);

	if (head == d->tail || d->ring[d->tail % DWELLS_RING].ended_ns > until_ns)
		return NULL;
	return &d->ring[d->tail % DWELLS_RING].dwell;
}

void dwells_pop(struct dwells *d)
{
	__atomic_store_n(&d->tail, d->tail + 1, __ATOMIC_RELEASE);
}
