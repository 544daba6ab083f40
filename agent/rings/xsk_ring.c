// SPDX-License-Identifier: GPL-2.0
/* Reader of AF_XDP rings: see xsk_ring.h. */
#include "xsk_ring.h"

#include <string.h>
#include <sys/socket.h>

/* Slots are returned in batches: each return moves a cache line that the kernel reads. */
#define BATCH 64
/* Records to prefetch: they are in another CPU's cache. */
#define AHEAD 4

void xsk_lane_fill(struct xsk_lane *l, uint32_t slots, uint32_t stride)
{
	uint32_t at = 0;

	xsk_ring_prod__reserve(&l->fill, slots, &at);
	for (uint32_t i = 0; i < slots; i++)
		*xsk_ring_prod__fill_addr(&l->fill, at + i) = (uint64_t)i * stride;
	xsk_ring_prod__submit(&l->fill, slots);
}

void xsk_ring_init(struct xsk_ring *r, struct xsk_lane *lanes, uint32_t lanes_len)
{
	memset(r, 0, sizeof(*r));
	r->lanes = lanes;
	r->lanes_len = lanes_len;
}

static const struct saluki_record *record_at(const struct xsk_lane *l, uint32_t index)
{
	uint64_t addr = xsk_ring_cons__rx_desc(&l->rx, index)->addr;

	return xsk_umem__get_data(l->memory, xsk_umem__add_offset_to_addr(addr));
}

static void give_back(struct xsk_lane *l)
{
	uint32_t len = l->end - l->first, to = 0;

	if (!len)
		return;
	xsk_ring_prod__reserve(&l->fill, len, &to);
	for (uint32_t i = 0; i < len; i++)
		*xsk_ring_prod__fill_addr(&l->fill, to + i) =
			xsk_umem__extract_addr(xsk_ring_cons__rx_desc(&l->rx, l->first + i)->addr);
	/* The order matters: a slot returned to the kernel must find a free place in its ring. */
	xsk_ring_cons__release(&l->rx, len);
	xsk_ring_prod__submit(&l->fill, len);
	l->first = l->end;
	/* A zero-copy driver that found no slot waits for a wake-up. */
	if (l->fd >= 0 && xsk_ring_prod__needs_wakeup(&l->fill))
		recvfrom(l->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

/* Returns the lane's next record, or NULL. */
static const struct saluki_record *head(struct xsk_lane *l)
{
	if (l->next == l->end) {
		uint32_t at;

		give_back(l);
		l->end += xsk_ring_cons__peek(&l->rx, BATCH, &at);
	}
	return l->next == l->end ? NULL : record_at(l, l->next);
}

/* Chooses the lane with the oldest record, and until when it stays the oldest. */
static const struct saluki_record *oldest(struct xsk_ring *r)
{
	const struct saluki_record *best = NULL;

	r->lane = NULL;
	r->until_ns = UINT64_MAX;
	for (struct xsk_lane *l = r->lanes; l < r->lanes + r->lanes_len; l++) {
		const struct saluki_record *rec = head(l);

		if (!rec)
			continue;
		if (!best || rec->time_ns < best->time_ns) {
			if (best)
				r->until_ns = best->time_ns;
			best = rec;
			r->lane = l;
		} else if (rec->time_ns < r->until_ns) {
			r->until_ns = rec->time_ns;
		}
	}
	return best;
}

const struct saluki_record *xsk_ring_next(struct xsk_ring *r)
{
	if (r->lane) {
		const struct saluki_record *rec;

		r->lane->next++;
		rec = head(r->lane);
		if (rec && rec->time_ns <= r->until_ns) {
			if (r->lane->end - r->lane->next > AHEAD)
				__builtin_prefetch(record_at(r->lane, r->lane->next + AHEAD));
			return rec;
		}
	}
	return oldest(r);
}
