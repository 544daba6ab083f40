// SPDX-License-Identifier: GPL-2.0
/*
 * Forward: see forward.h. In: records of one group, ACKs. Out: the records, each until it is
 * settled, with their totals and info. Always holds: the store has consecutive counts of one info.
 * Before a gap or a new info, all earlier records are settled.
 */
#include "forward.h"

#include <string.h>

#include "common/log.h"

#define RECEIVED UINT64_MAX /* in place of a datagram's number */

int forward_init(struct forward *f, struct spool *spool, struct saluki_exported *counters)
{
	if (!spool || !spool->group_count)
		return 0;
	f->spool = spool;
	f->deliver.opaque = true;
	return deliver_init(&f->deliver, spool->session, counters, FORWARD_STORE_BYTES);
}

/* ---- a group --------------------------------------------------------------------------------- */

static void group_begin(struct forward *f, uint32_t group)
{
	struct totals none = { 0 };

	f->group = &f->spool->groups[group - 1];
	f->deliver.path.spool = group;
	f->state = FORWARD_BEGUN;
	f->info = f->group->info;
	f->totals_told = 0;
	f->totals_len = totals_write(f->totals, &none);
	deliver_start(&f->deliver, 0, 0);
}

/* Returns a datagram's state. Unknown old ones, and 0, count as lost. */
static int state_of(const struct forward *f, uint64_t number)
{
	const struct in_flight *flight = &f->deliver.flight;

	if (number == RECEIVED)
		return IN_FLIGHT_ACKED;
	if (!number || flight->next > number + flight->slots)
		return IN_FLIGHT_LOST;
	return flight->sent[number % flight->slots].state;
}

/* Ends a group, and the session too, if all is settled and the collector has the totals. */
static void group_end(struct forward *f)
{
	if (f->state != FORWARD_ENDED || !store_is_empty(&f->deliver.store) ||
	    state_of(f, f->totals_told) != IN_FLIGHT_ACKED)
		return;
	log_info("--spool %s: all that was left of run %016llx is delivered", f->spool->path,
		 (unsigned long long)f->group->run);
	__atomic_store_n(&f->group->done, true, __ATOMIC_RELEASE);
}

/* ---- info ------------------------------------------------------------------------------------ */

static bool is_same(const struct info_lasting *i, const void *text, size_t len)
{
	return i->len == len && !memcmp(i->text, text, len);
}

/* Returns whether later records may follow. */
static bool take_info(struct forward *f, const struct spool_record *r)
{
	if (r->len > INFO_LASTING_MAX || is_same(&f->info, r->data, r->len))
		return true;
	if (!store_is_empty(&f->deliver.store))
		return false;
	f->info.len = r->len;
	memcpy(f->info.text, r->data, r->len);
	f->info_told = 0;
	return true;
}

static void tell_info(struct forward *f, uint64_t now_ns)
{
	uint8_t message[INFO_MESSAGE_MAX] = { MESSAGE_INFO };
	int state = state_of(f, f->info_told);

	f->deliver.waits = state != IN_FLIGHT_ACKED;
	if (state == IN_FLIGHT_ACKED)
		f->info_told = RECEIVED;
	if (state != IN_FLIGHT_LOST)
		return;
	memcpy(message + 1, f->info.text, f->info.len);
	f->info_told = deliver_message(&f->deliver, message, 1 + f->info.len, now_ns);
}

/* ---- records --------------------------------------------------------------------------------- */

/* Returns whether it was stored. */
static bool take_combo(struct forward *f, const struct spool_record *r)
{
	struct deliver *d = &f->deliver;

	if (f->state == FORWARD_BEGUN || r->count != d->store.end) {
		if (!store_is_empty(&d->store))
			return false;
		deliver_start(d, r->count, r->first);
		d->floor_due = true;
		f->state = FORWARD_READING;
		f->next_totals_ns = 0; /* send them at once */
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

	while (f->state != FORWARD_ENDED &&
	       (r = spool_read(f->spool, &f->spool->old, f->deliver.path.spool, 0))) {
		if (r->state == SPOOL_NONE) {
			/* The last totals are still to be sent, unless there was no combo. */
			f->totals_told = f->state == FORWARD_BEGUN ? RECEIVED : 0;
			f->next_totals_ns = 0;
			f->state = FORWARD_ENDED;
		} else if (r->r.kind == SPOOL_TOTALS) {
			take_totals(f, &r->r);
		} else if ((r->r.kind == SPOOL_COMBO && !take_combo(f, &r->r)) ||
			   (r->r.kind == SPOOL_INFO && !take_info(f, &r->r))) {
			return;
		}
		spool_read_done(&f->spool->old);
	}
}

/* ---------------------------------------------------------------------------------------------- */

static void tell_totals(struct forward *f, uint64_t now_ns)
{
	uint64_t number = deliver_message(&f->deliver, f->totals, f->totals_len, now_ns);

	if (f->state == FORWARD_ENDED && state_of(f, f->totals_told) == IN_FLIGHT_LOST)
		f->totals_told = number;
	deliver_floor(&f->deliver, now_ns);
	f->next_totals_ns = now_ns + TOTALS_INTERVAL_NS;
}

bool forward_turn(struct forward *f, uint64_t now_ns)
{
	struct deliver *d = &f->deliver;
	unsigned int generation = d->path.generation;
	uint32_t group = f->spool ? session_spool(d->session) : 0;

	if (!group)
		return false;
	if (f->group != &f->spool->groups[group - 1])
		group_begin(f, group);
	if (f->group->done)
		return true; /* the session is about to end */
	if (!deliver_session(d, now_ns))
		return false;
	if (d->path.generation != generation) {

		f->totals_told = f->next_totals_ns = 0;
		/* The session's hello had the group's first info. */
		f->info_told = is_same(&f->group->info, f->info.text, f->info.len) ? RECEIVED : 0;
	}
	deliver_receive(d, now_ns);
	take_records(f);
	tell_info(f, now_ns);
	if (deliver_ask(d, now_ns))
		f->next_totals_ns = 0;
	if (now_ns >= f->next_totals_ns)
		tell_totals(f, now_ns);
	deliver_send(d, now_ns);
	group_end(f);
	return true;
}
