// SPDX-License-Identifier: GPL-2.0
/*
 * Deliver: see deliver.h. In: compressed combos, sessions, time. Out: the stored combos, and the
 * time of the next work. Always holds: stored combos below `unsent` are complete at the collector,
 * in flight, or pending from `resend` on. Allocates nothing.
 */
#include "deliver.h"

#include <string.h>

#define MS 1000000ULL

/* ---- acknowledged sessions ------------------------------------------------------------------- */

static uint32_t may_send(struct deliver *d, uint64_t now_ns)
{
	return in_flight_may_send(&d->flight, now_ns);
}

static uint64_t ask_ns(const struct deliver *d, uint64_t now_ns)
{
	uint64_t since = d->asked_ns > d->flight.progress_ns ? d->asked_ns : d->flight.progress_ns;

	(void)now_ns;
	if (d->flight.oldest != d->flight.next)
		return in_flight_probe_ns(&d->flight);
	if (store_is_empty(&d->store))
		return UINT64_MAX;
	return since + (in_flight_rto_ns(&d->flight) << (d->asked < 6 ? d->asked : 6));
}

static const struct deliver_ops acknowledged = {
	.may_send = may_send,
	.receive = deliver_receive_acks,
	.ask_ns = ask_ns,
};

/* ---- start and end --------------------------------------------------------------------------- */

int deliver_init(struct deliver *d, struct session *s, struct saluki_exported *counters,
		 size_t store_bytes)
{
	d->ops = d->ops ?: &acknowledged;
	d->session = s;
	d->counters = counters;
	d->datagram_len = SHROUD_DATAGRAM_MAX;
	d->pieces.segments = s->reach.segments;
	return store_init(&d->store, store_bytes);
}

void deliver_free(struct deliver *d)
{
	store_free(&d->store);
	memset(&d->path, 0, sizeof(d->path));
}

void deliver_start(struct deliver *d, uint64_t count, uint64_t first)
{
	store_start(&d->store, count);
	d->taken = d->settled = d->unsent = d->resend = count;
	__atomic_store_n(&d->kept_first, first, __ATOMIC_RELAXED);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

void deliver_keep_from(struct deliver *d, uint64_t count)
{
	uint64_t first = d->kept_first;

	for (; d->store.lowest < d->store.end && d->store.lowest < count;
	     store_settle(&d->store, d->store.lowest + 1)) {
		const struct store_combo *c = store_get(&d->store, d->store.lowest);

		first = c->first + c->frames;
	}
	__atomic_store_n(&d->kept_first, first, __ATOMIC_RELAXED);
}

bool deliver_put(struct deliver *d, const uint8_t *wire, size_t len, uint64_t first,
		 uint32_t frames)
{
	struct store_combo *c = store_put(&d->store, wire, len);

	if (!c)
		return false;
	c->first = first;
	c->frames = frames;
	if (d->store.lowest + 1 == d->store.end)
		__atomic_store_n(&d->kept_first, first, __ATOMIC_RELAXED);
	/* The collector may have it already, from a killed agent. */
	deliver_keep_from(d, d->settled);
	return true;
}

void deliver_drop_oldest(struct deliver *d)
{
	const struct store_combo *c = store_get(&d->store, d->store.lowest);

	if (!c)
		return;
	__atomic_store_n(&d->given_up, d->given_up + c->frames, __ATOMIC_RELAXED);
	deliver_keep_from(d, d->store.lowest + 1);
	d->floor_due = true;
	d->final_number = 0; /* the final totals did not include this */
}

void deliver_take_back(struct deliver *d)
{
	store_drop_newest(&d->store);
	if (d->unsent > d->store.end)
		d->unsent = d->store.end;
}

/* ---- sessions -------------------------------------------------------------------------------- */

bool deliver_session(struct deliver *d, uint64_t now_ns)
{
	unsigned int generation = d->path.generation;

	if (!session_use(d->session, &d->path))
		return false;
	if (d->path.generation == generation)
		return true;
	in_flight_reset(&d->flight, d->path.window, now_ns);
	d->taken = d->settled = d->unsent = d->resend = d->store.lowest;
	d->held = d->final_number = d->checks = 0;
	d->whole = d->full = false;
	d->asked = 0;
	d->check_ns = now_ns + in_flight_rto_ns(&d->flight);
	d->big_acked = false;
	d->pieces_lost = d->pauses = 0;
	d->pause_ends_ns = 0;
	d->big_lost = d->small_acked = 0;
	d->floor_due = true; /* for a collector that does not know this run */
	for (uint64_t n = d->store.lowest; n < d->store.end; n++)
		store_get(&d->store, n)->cut = 0;
	if (d->ops->begin)
		d->ops->begin(d, now_ns);
	return true;
}

bool deliver_ask(struct deliver *d, uint64_t now_ns)
{
	if (now_ns < d->ops->ask_ns(d, now_ns))
		return false;
	if (d->flight.oldest != d->flight.next) {
		in_flight_probed(&d->flight, now_ns);
	} else {
		d->asked_ns = now_ns;
		d->asked++;
	}
	return true;
}

int deliver_wait_ms(const struct deliver *d, uint64_t now_ns, int most)
{
	uint64_t due = in_flight_due_ns(&d->flight), paced = in_flight_paced_ns(&d->flight);
	uint64_t ask = d->ops->ask_ns(d, now_ns);

	due = ask < due ? ask : due;
	if (now_ns < d->pause_ends_ns)
		paced = d->pause_ends_ns;
	if (paced < due && !d->waits && (d->resend < d->unsent || d->unsent < d->store.end))
		due = paced;
	if (due <= now_ns)
		return 0;
	due = (due - now_ns + MS - 1) / MS;
	return due < (uint64_t)most ? (int)due : most;
}
