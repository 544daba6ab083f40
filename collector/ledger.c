// SPDX-License-Identifier: GPL-2.0
/* Ledger: see ledger.h. */
#include "ledger.h"

#include <errno.h>
#include <string.h>

#define ULL(x) ((unsigned long long)(x))

static uint64_t run_exported(const struct ledger_run *r)
{
	/* Combos may be ahead of the last totals. */
	return r->sensor.exported > r->accounted ? r->sensor.exported : r->accounted;
}

static void run_add(struct ledger_run *to, const struct ledger_run *r)
{
#define X(name, help) to->sensor.name += r->sensor.name;
	TOTALS_FIELDS(X)
#undef X
	to->vanished += r->vanished;
	to->earlier += r->earlier;
	to->unheard += r->unheard;
	to->accounted += r->accounted;
	to->written += r->written;
	to->lost_disk += r->lost_disk;
	to->lost_missing += r->lost_missing;
}

void ledger_run_close(struct ledger *l)
{
	struct ledger_run *r = &l->now;
	uint64_t tail = run_exported(r) - r->accounted;

	r->lost_missing += tail;
	r->accounted += tail;
}

/* A run without a last word: its totals are older than its combos. What the combos prove is taken
 * into them, and what then was captured and not exported is gone with the sensor. */
static void run_bury(struct ledger_run *r)
{
	struct totals *t = &r->sensor;
	uint64_t ended;

	t->in_ring = 0; /* nobody will come for them */
	t->exported = run_exported(r);
	ended = t->exported + t->dropped_send + t->dropped_shutdown;
	if (t->captured < ended) {
		t->seen += ended - t->captured;
		t->captured = ended;
	}
	r->vanished = t->captured - ended;
	/* The hook's counters are read one after the other while they run. */
	t->seen = t->filtered + t->ring_full + t->copy_failed + t->captured;
}

/* Of the frames that were gone when the run was first heard of, the sensor knows which it gave up:
 * all that it did, but for those that were missed since. The others were another collector's. */
static void run_divide(struct ledger_run *r)
{
	uint64_t lost = r->sensor.dropped_store > r->lost_missing
				? r->sensor.dropped_store - r->lost_missing
				: 0;

	lost = lost < r->unheard ? lost : r->unheard;
	r->lost_missing += lost;
	r->earlier += r->unheard - lost;
	r->unheard = 0;
}

void ledger_run_start(struct ledger *l, uint64_t run, uint64_t earlier)
{
	if (l->runs) {
		ledger_run_close(l);
		if (!l->now.sensor.final)
			run_bury(&l->now);
		/* A last word that its own combos contradict: what is here is here. */
		l->now.sensor.exported = run_exported(&l->now);
		run_divide(&l->now);
		run_add(&l->before, &l->now);
	}
	memset(&l->now, 0, sizeof(l->now));
	l->now.earlier = l->now.accounted = earlier;
	l->run = run;
	l->runs++;
}

void ledger_run_resume(struct ledger *l)
{
	l->now.sensor.final = 0;
	l->now.sensor.in_ring = 0;
}

void ledger_totals(struct ledger *l, const struct totals *t)
{
	struct totals *had = &l->now.sensor;

	/* Datagrams overtake one another; totals only rise, but that the last word may know better
	 * what was seen. */
	if (t->exported < had->exported || t->final < had->final ||
	    (t->seen < had->seen && t->final == had->final))
		return;
	*had = *t;
}

int ledger_combo(struct ledger *l, uint64_t first, uint32_t frames)
{
	struct ledger_run *r = &l->now;

	if (first < r->accounted || first > UINT64_MAX / 2)
		return -EBADMSG;
	r->lost_missing += first - r->accounted;
	r->accounted = first + frames;
	return 0;
}

int ledger_floor(struct ledger *l, uint64_t first)
{
	struct ledger_run *r = &l->now;

	if (first > UINT64_MAX / 2)
		return -EBADMSG;
	if (first <= r->accounted)
		return 0;
	if (r->accounted == r->earlier + r->unheard) /* nothing of it was taken here yet */
		r->unheard += first - r->accounted;
	else
		r->lost_missing += first - r->accounted;
	r->accounted = first;
	return 0;
}

int ledger_gone(struct ledger *l, uint64_t first)
{
	return first > l->now.accounted ? ledger_combo(l, first, 0) : 0;
}

void ledger_flushed(struct ledger *l, bool written)
{
	if (written)
		l->now.written += l->pending;
	else
		l->now.lost_disk += l->pending;
	l->pending = 0;
}

uint64_t ledger_in_flight(const struct ledger *l)
{
	return run_exported(&l->now) - l->now.accounted + l->pending;
}

struct ledger_run ledger_sum(const struct ledger *l)
{
	struct ledger_run sum = l->before, now = l->now;

	run_divide(&now);
	run_add(&sum, &now);
	/* While a run goes on, its combos are ahead of its totals. */
	sum.sensor.exported += run_exported(&l->now) - l->now.sensor.exported;
	return sum;
}

/* How far two sides are apart, in either direction; bounded, for a sensor may say any number. */
static int64_t magnitude(uint64_t difference)
{
	uint64_t m = difference > INT64_MAX ? -difference : difference;

	return m < INT64_MAX / 3 ? m : INT64_MAX / 3;
}

int64_t ledger_balance(const struct ledger *l)
{
	struct ledger_run s = ledger_sum(l);
	const struct totals *t = &s.sensor;
	uint64_t hook = t->seen - t->filtered - t->ring_full - t->copy_failed - t->captured;
	uint64_t agent = t->captured - t->exported - t->dropped_send - t->dropped_shutdown -
			 t->in_ring - s.vanished;
	uint64_t here = t->exported - s.earlier - s.written - s.lost_missing - s.lost_disk -
			ledger_in_flight(l);

	/* While a run goes on, frames are on their way inside the agent, and the totals are a
	 * moment old; only its last word can be held against it. */
	if (!l->now.sensor.final)
		hook = agent = 0;
	return magnitude(hook) + magnitude(agent) + magnitude(here);
}

void ledger_print(FILE *out, const char *name, const struct ledger *l)
{
	struct ledger_run s = ledger_sum(l);
	const struct totals *t = &s.sensor;

	fprintf(out,
		"%s: seen %llu = filtered %llu + ring_full %llu + copy_failed %llu + captured "
		"%llu; "
		"captured = exported %llu + dropped %llu + in ring %llu + vanished %llu; "
		"exported = written %llu + lost %llu (missing %llu, disk %llu) + earlier %llu + "
		"in flight %llu; balance %lld",
		name, ULL(t->seen), ULL(t->filtered), ULL(t->ring_full), ULL(t->copy_failed),
		ULL(t->captured), ULL(t->exported), ULL(t->dropped_send + t->dropped_shutdown),
		ULL(t->in_ring), ULL(s.vanished), ULL(s.written), ULL(s.lost_missing + s.lost_disk),
		ULL(s.lost_missing), ULL(s.lost_disk), ULL(s.earlier), ULL(ledger_in_flight(l)),
		(long long)ledger_balance(l));
	if (t->bad_fcs)
		fprintf(out, "; %llu received with a wrong FCS", ULL(t->bad_fcs));
	putc('\n', out);
}

void ledger_json(FILE *out, const char *name, unsigned int id, const struct ledger *l)
{
	struct ledger_run s = ledger_sum(l);

	fprintf(out, "\"name\": \"%s\", \"id\": %u, \"run\": \"%016llx\", \"runs\": %llu", name, id,
		ULL(l->run), ULL(l->runs));
	s.sensor.final = l->now.sensor.final;
#define X(field, help) fprintf(out, ", \"" #field "\": %llu", ULL(s.sensor.field));
	TOTALS_FIELDS(X)
#undef X
	fprintf(out,
		", \"vanished\": %llu, \"written\": %llu, \"lost_missing\": %llu, \"lost_disk\": "
		"%llu, \"earlier\": %llu, "
		"\"in_flight\": %llu, \"balance\": %lld, \"received_bytes\": %llu, "
		"\"bad_combos\": %llu, \"bad_pieces\": %llu, \"bad_messages\": %llu, "
		"\"duplicate_pieces\": %llu, \"bad_events\": %llu, \"unknown_events\": %llu, "
		"\"said\": %llu",
		ULL(s.vanished), ULL(s.written), ULL(s.lost_missing), ULL(s.lost_disk),
		ULL(s.earlier), ULL(ledger_in_flight(l)), (long long)ledger_balance(l),
		ULL(l->received_bytes), ULL(l->bad_combos), ULL(l->bad_pieces),
		ULL(l->bad_messages), ULL(l->duplicate_pieces), ULL(l->bad_events),
		ULL(l->unknown_events), ULL(l->said));
}
