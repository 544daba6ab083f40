// SPDX-License-Identifier: GPL-2.0
/*
 * Forward: see forward.h. In: records of one group, ACKs. Out: the records, each until it is
 * settled, and the totals that were noted with them. Always holds: counts in the store follow one
 * another; where records do not, those before the gap are settled first.
 */
#include "forward.h"

#include <string.h>

#include <saluki/log.h>

int forward_init(struct forward *f, struct spool *spool, struct session *session,
		 struct saluki_exported *counters)
{
	if (!spool || !spool->group_count)
		return 0;
	f->spool = spool;
	f->session = session;
	f->deliver.opaque = true;
	return deliver_init(&f->deliver, session, counters, FORWARD_STORE_BYTES);
}

void forward_free(struct forward *f)
{
	if (f->spool)
		deliver_free(&f->deliver);
}

/* ---- a group --------------------------------------------------------------------------------- */

static void group_begin(struct forward *f, uint32_t group)
{
	struct totals none = { 0 };

	f->group = f->deliver.path.spool = group;
	f->started = f->ended = false;
	f->told = 0;
	f->totals_len = totals_write(f->totals, &none);
	deliver_start(&f->deliver, 0, 0);
}

/* What has become of the last totals; too long ago is lost. */
static int told_state(const struct forward *f)
{
	const struct flight *flight = &f->deliver.flight;

	if (!f->told || flight->next > f->told + flight->slots)
		return FLIGHT_LOST;
	return flight->sent[f->told % flight->slots].state;
}

/* All of it is settled, and the collector has the totals. The session goes with it. */
static bool group_is_done(const struct forward *f)
{
	return f->ended && store_is_empty(&f->deliver.store) &&
	       (!f->started || told_state(f) == FLIGHT_ACKED);
}

static void group_end(struct forward *f)
{
	struct session_spool *g = &f->spool->groups[f->group - 1];

	log_line("--spool %s: all that was left of run %016llx is delivered", f->spool->path,
		 (unsigned long long)g->run);
	__atomic_store_n(&g->done, true, __ATOMIC_RELEASE);
}

/* ---- records --------------------------------------------------------------------------------- */

/* Returns whether it could be kept. */
static bool take_combo(struct forward *f, const struct spool_record *r)
{
	struct deliver *d = &f->deliver;

	if (!f->started || r->count != d->store.end) {
		if (!store_is_empty(&d->store))
			return false;
		deliver_start(d, r->count, r->first);
		d->floor_due = f->started = true;
		f->next_totals_ns = 0; /* at once: else they would be far ahead of what is due */
	}
	return deliver_put(d, r->data, r->len, r->first, r->frames);
}

static void take_totals(struct forward *f, const struct spool_record *r)
{
	if (r->len > sizeof(f->totals))
		return;
	memcpy(f->totals, r->data, r->len);
	f->totals_len = r->len;
}

static void take_records(struct forward *f)
{
	const struct spool_reader *r;

	while (!f->ended && (r = spool_read_old(f->spool, f->group - 1))) {
		if (r->state == SPOOL_END) {
			f->ended = true;
			f->told = f->next_totals_ns = 0; /* the last ones are still to be told */
		} else if (r->r.kind == SPOOL_TOTALS) {
			take_totals(f, &r->r);
		} else if (r->r.kind == SPOOL_COMBO && !take_combo(f, &r->r)) {
			return;
		}
		spool_read_done(&f->spool->old);
	}
}

/* ---------------------------------------------------------------------------------------------- */

static void tell(struct forward *f, uint64_t now_ns)
{
	uint64_t number = deliver_message(&f->deliver, f->totals, f->totals_len, now_ns);

	if (f->ended && told_state(f) == FLIGHT_LOST)
		f->told = number;
	deliver_floor(&f->deliver, now_ns);
	f->next_totals_ns = now_ns + TOTALS_INTERVAL_NS;
}

bool forward_turn(struct forward *f, uint64_t now_ns)
{
	struct deliver *d = &f->deliver;
	unsigned int generation = d->path.generation;
	uint32_t group = f->spool ? session_spool(f->session) : 0;

	if (!group)
		return false;
	if (group != f->group)
		group_begin(f, group);
	if (f->spool->groups[group - 1].done)
		return true; /* the session is about to end */
	if (!deliver_session(d, now_ns))
		return false;
	if (d->path.generation != generation)
		f->told = f->next_totals_ns = 0;
	deliver_hear(d, now_ns);
	take_records(f);
	if (now_ns >= deliver_ask_ns(d)) {
		deliver_asked(d, now_ns);
		f->next_totals_ns = 0;
	}
	if (now_ns >= f->next_totals_ns)
		tell(f, now_ns);
	deliver_send(d, now_ns);
	if (group_is_done(f))
		group_end(f);
	return true;
}
