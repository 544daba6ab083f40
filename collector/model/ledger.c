// SPDX-License-Identifier: GPL-2.0
/* Ledger: see ledger.h. */
#include "ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ULL(x) ((unsigned long long)(x))

static uint64_t run_exported(const struct ledger_run *r)
{
	/* Combos may be ahead of the last totals. */
	return r->sensor.exported > r->accounted ? r->sensor.exported : r->accounted;
}

/* Adds `r` to `to` for `sign` 1, or subtracts it for `sign` -1, modulo 2^64. */
static void run_add(struct ledger_run *to, const struct ledger_run *r, uint64_t sign)
{
#define X(name, help) to->sensor.name += sign * r->sensor.name;
	TOTALS_FIELDS(X)
#undef X
	to->vanished += sign * r->vanished;
	to->earlier += sign * r->earlier;
	to->unheard += sign * r->unheard;
	to->accounted += sign * r->accounted;
	to->written += sign * r->written;
	to->lost_disk += sign * r->lost_disk;
	to->lost_missing += sign * r->lost_missing;
	to->lost_refused += sign * r->lost_refused;
}

static void run_close(struct ledger_run *r)
{
	uint64_t tail = run_exported(r) - r->accounted;

	r->lost_missing += tail;
	r->accounted += tail;
	r->tail += tail;
}

void ledger_run_close(struct ledger *l)
{
	run_close(&l->now);
}

/* Ends a run without final totals: its totals are older than its combos. They are raised to what
 * the combos prove. Frames captured and not exported are lost with the sensor. */
static void run_bury(struct ledger_run *r)
{
	struct totals *t = &r->sensor;
	uint64_t ended;

	t->in_ring = 0; /* no agent will read them */
	t->exported = run_exported(r);
	ended = t->exported + t->dropped_send + t->dropped_shutdown;
	if (t->captured < ended) {
		t->seen += ended - t->captured;
		t->captured = ended;
	}
	r->vanished = t->captured - ended;
	/* The hook's counters were read one by one while they ran. */
	t->seen = t->filtered + t->ring_full + t->copy_failed + t->captured;
}

/* Divides the frames that were gone before the run's first message. Those that the sensor gave up,
 * less the missing ones since then, are lost. Another collector received the others. Frames that it
 * received and could not confirm count as lost here. */
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

/* ---- runs one after the other ---------------------------------------------------------------- */

/* Returns the run's counters as if it ended now. */
static struct ledger_run run_ended(struct ledger_run r)
{
	run_close(&r);
	if (!r.sensor.final)
		run_bury(&r);
	/* Final totals may be below the run's own combos. The combos count. */
	r.sensor.exported = run_exported(&r);
	run_divide(&r);
	return r;
}

/* Continues a closed run: frames that counted as lost may still arrive. */
static void run_go_on(struct ledger_run *r)
{
	r->sensor.final = 0;
	r->sensor.in_ring = 0;
	r->lost_missing -= r->tail;
	r->accounted -= r->tail;
	r->tail = 0;
}

static void past_keep(struct ledger *l)
{
	struct ledger_past *p = l->past ?: calloc(1, sizeof(*p));

	l->past = p;
	if (!p)
		return;
	p->count += p->count < LEDGER_PAST;
	memmove(p->runs + 1, p->runs, (p->count - 1) * sizeof(p->runs[0]));
	p->runs[0].run = l->run;
	p->runs[0].at_end = l->now;
}

static bool past_is(const struct ledger_past *p, unsigned int i, uint64_t run, uint64_t earlier)
{
	const struct ledger_run *r = &p->runs[i].at_end;

	return p->runs[i].run == run && r->accounted - r->tail == earlier;
}

/* Takes a continued run out of the ended ones. Returns whether it was found. */
static bool past_take(struct ledger *l, uint64_t run, uint64_t earlier, struct ledger_run *at_end)
{
	struct ledger_past *p = l->past;
	struct ledger_run ended;
	unsigned int i = 0;

	while (p && i < p->count && !past_is(p, i, run, earlier))
		i++;
	if (!p || i == p->count)
		return false;
	*at_end = p->runs[i].at_end;
	ended = run_ended(*at_end);
	run_add(&l->before, &ended, -1);
	p->count--;
	memmove(p->runs + i, p->runs + i + 1, (p->count - i) * sizeof(p->runs[0]));
	return true;
}

void ledger_run_start(struct ledger *l, uint64_t run, uint64_t earlier)
{
	struct ledger_run next = { .earlier = earlier, .accounted = earlier, .quiet = earlier };
	bool again = past_take(l, run, earlier, &next);
	struct ledger_run ended = run_ended(l->now);

	if (l->runs) {
		past_keep(l);
		run_add(&l->before, &ended, 1);
	}
	l->run = run;
	l->now = next;
	l->runs += !again;
	if (again)
		run_go_on(&l->now);
}

void ledger_run_known(struct ledger *l)
{
	l->now.known = true;
}

void ledger_run_resume(struct ledger *l)
{
	run_go_on(&l->now);
}

void ledger_run_moved(struct ledger *l)
{
	l->now.quiet = l->now.accounted;
}

void ledger_free(struct ledger *l)
{
	free(l->past);
	l->past = NULL;
}

void ledger_totals(struct ledger *l, const struct totals *t)
{
	struct totals *had = &l->now.sensor;

	/* Datagrams may arrive out of order, and totals only rise. Only final totals may have a
	 * smaller `seen`. */
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
	/* No combo has arrived yet, neither here nor at a killed predecessor. */
	if (!r->known && r->accounted == r->quiet) {
		r->unheard += first - r->accounted;
		r->quiet = first;
	} else {
		r->lost_missing += first - r->accounted;
	}
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

void ledger_delivered(struct ledger *l, uint64_t frames, bool written)
{
	l->pending -= frames;
	if (written)
		l->now.written += frames;
	else
		l->now.lost_refused += frames;
}

uint64_t ledger_in_flight(const struct ledger *l)
{
	return run_exported(&l->now) - l->now.accounted + l->pending;
}

struct ledger_run ledger_sum(const struct ledger *l)
{
	struct ledger_run sum = l->before, now = l->now;

	run_divide(&now);
	run_add(&sum, &now, 1);
	/* During a run, its combos are ahead of its totals. */
	sum.sensor.exported += run_exported(&l->now) - l->now.sensor.exported;
	sum.sensor.final = l->now.sensor.final;
	sum.sensor.store = l->now.sensor.store;
	sum.sensor.store_limit = l->now.sensor.store_limit;
	return sum;
}

/* Returns a difference without its sign, bounded, as a sensor can send any number. */
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
			s.lost_refused - ledger_in_flight(l);

	/* During a run, frames are inside the agent and the totals are slightly old: only final
	 * totals must add up. */
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
		"exported = written %llu + lost %llu (missing %llu, disk %llu, refused %llu) + "
		"earlier %llu + "
		"in flight %llu; balance %lld",
		name, ULL(t->seen), ULL(t->filtered), ULL(t->ring_full), ULL(t->copy_failed),
		ULL(t->captured), ULL(t->exported), ULL(t->dropped_send + t->dropped_shutdown),
		ULL(t->in_ring), ULL(s.vanished), ULL(s.written),
		ULL(s.lost_missing + s.lost_disk + s.lost_refused), ULL(s.lost_missing),
		ULL(s.lost_disk), ULL(s.lost_refused), ULL(s.earlier), ULL(ledger_in_flight(l)),
		(long long)ledger_balance(l));
	if (t->bad_fcs)
		fprintf(out, "; %llu received with a wrong FCS", ULL(t->bad_fcs));
	putc('\n', out);
}
