// SPDX-License-Identifier: GPL-2.0
/*
 * Export thread. In: closed combos from the queue. Out: compressed combos in the store, which
 * deliver.c sends, and once a second the totals. Always holds: every frame taken from the queue is
 * counted as exported or as dropped for a reason, and its space in the kernel's ring is given back
 * only then; the journal knows of each step. Allocates nothing.
 *
 * A ring outlives this agent, the store does not: so a combo's frames stay in the ring until all of
 * it was sent once, unless the ring is half full of what waits.
 */
#include "export.h"

#include <poll.h>

#include <saluki/log.h>

#include "agent/source/clock.h"

#define FINAL_PATIENCE_NS 8000000000ULL /* silence, another session, and some more */
#define LAST_WORD_NS 4000000000ULL	/* silence, and some more */
#define WAIT_MS 100

static void count(__u64 *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* ---- combos ---------------------------------------------------------------------------------- */

/* The combo has come to its end here: its frames are counted, their space in the ring is free. */
static void export_done(struct exporter *e, struct combo *c, __u64 *counter)
{
	count(counter, c->frames);
	journal_commit(&e->journal, &e->counters);
	if (e->source->ops->release)
		e->source->ops->release(e->source, c->mark);
	journal_settle(&e->journal);
	combo_reset(c);
	queue_pop(e->queue);
	e->wire_len = 0;
	e->kept = false;
}

static void export_begin(struct exporter *e, struct combo *c)
{
	if (e->source->ops->positions)
		e->source->ops->positions(e->source, c->mark, e->ends);
	journal_begin(&e->journal, c->frames, e->ends);
	c->first = e->counters.exported;
	if (!c->body)
		combo_close(c); /* once, with what was exported before it */
}

/* Whether the frames that wait had better leave the ring, which may run full. */
static bool ring_is_short(struct exporter *e)
{
	if (e->source->ops->half_full)
		return e->source->ops->half_full(e->source);
	return true; /* they are in no ring that would outlive us */
}

static void export_compress(struct exporter *e, struct combo *c)
{
	export_begin(e, c);
	/* The sensor's id is the session's: it is put in when this is sealed. */
	combo_header_write(e->wire, 0, e->counters.next, c->frames, c->body_len);
	e->wire_len = COMBO_HEADER_LEN;
	e->wire_len += compress_combo(&e->compress, e->wire + e->wire_len, c->body, c->body_len);
}

/* Makes room in a full store where frames would be lost otherwise: the newest are worth more. */
static bool export_make_room(struct exporter *e)
{
	if (e->is_file || !queue_is_full(e->queue) || !ring_is_short(e) ||
	    !spool_policy_is_full(&e->stow))
		return false;
	deliver_drop_oldest(&e->deliver);
	return true;
}

/* The queue's first combo into the store, where that is due. */
static void export_keep(struct exporter *e, bool up)
{
	struct combo *c = queue_front(e->queue);
	/* All before it was sent, so it will be at once. */
	bool sent = up && deliver_has_sent(&e->deliver, e->deliver.store.end - 1);

	if (!c || e->kept)
		return;
	if (!up && !ring_is_short(e) && !spool_policy_works(&e->stow))
		return;
	if (up && !sent && !store_is_empty(&e->deliver.store) && !ring_is_short(e))
		return;
	if (!e->wire_len)
		export_compress(e, c);
	do
		e->kept = spool_policy_put(&e->stow, e->wire, e->wire_len, c->first, c->frames,
					   !up || !e->is_file);
	while (!e->kept && export_make_room(e));
}

/* Into the file, with totals beside it once a second, for who comes after us. */
static void export_stow(struct exporter *e, bool up, uint64_t now_ns)
{
	uint8_t message[TOTALS_WIRE_MAX];

	if (!spool_policy_turn(&e->stow, up, now_ns) || now_ns < e->next_stowed_ns)
		return;
	spool_policy_totals(&e->stow, message, export_totals_write(e, message, false));
	e->next_stowed_ns = now_ns + TOTALS_INTERVAL_NS;
}

static void export_committed(struct exporter *e, struct combo *c)
{
	count(&e->counters.next, 1);
	count(&e->counters.body_bytes, c->body_len);
	count(&e->counters.combos, 1);
	export_done(e, c, &e->counters.exported);
}

/* The combo that is kept is this agent's no longer, or is no combo: see above. */
static void export_commit(struct exporter *e, bool up)
{
	struct combo *c = queue_front(e->queue);
	bool sent = deliver_has_sent(&e->deliver, e->counters.next) ||
		    spool_policy_has(&e->stow, e->counters.next);

	if (!sent && (!ring_is_short(e) || (!up && spool_policy_works(&e->stow))))
		return;
	export_committed(e, c);
}

/* ---- an end ---------------------------------------------------------------------------------- */

/* Patience is over: what is left of the queue is not kept. */
static void export_give_up(struct exporter *e)
{
	struct combo *c = queue_front(e->queue);

	if (!c) {
		event_wait(e->queue->filled_fd, WAIT_MS);
		return;
	}
	if (e->kept && e->spool) { /* its number is in the file, or may be */
		export_committed(e, c);
		return;
	}
	if (e->kept)
		deliver_take_back(&e->deliver);
	e->kept = false;
	if (e->persistent) { /* they stay in the ring, and so must all behind them */
		e->left = true;
		e->wire_len = 0;
		combo_reset(c);
		queue_pop(e->queue);
		return;
	}
	export_begin(e, c); /* for a kill before its space is free: it ends there */
	export_done(e, c, &e->counters.dropped_shutdown);
}

/* Whether somebody waits for us to end: a file's reader, or who told us to stop. */
static bool export_is_bounded(struct exporter *e)
{
	return e->is_file || __atomic_load_n(&e->stop, __ATOMIC_ACQUIRE);
}

/* Then there is an end to waiting for a collector, and for one that takes nothing. */
static bool export_is_over(struct exporter *e, bool up, uint64_t now_ns)
{
	if (!export_is_bounded(e)) {
		e->waiting_since_ns = 0;
		e->moved_ns = now_ns;
		return false;
	}
	if (up)
		e->waiting_since_ns = 0;
	else if (!e->waiting_since_ns)
		e->waiting_since_ns = now_ns;
	if (store_is_empty(&e->deliver.store) && !queue_front(e->queue) &&
	    !queue_finished(e->queue))
		e->moved_ns = now_ns; /* there is nothing that waits */
	else if (e->deliver.progress_ns > e->moved_ns)
		e->moved_ns = e->deliver.progress_ns;
	if (e->forward.deliver.progress_ns > e->moved_ns)
		e->moved_ns = e->forward.deliver.progress_ns;
	return (!up && now_ns - e->waiting_since_ns > e->patience_ns) ||
	       now_ns > e->moved_ns + FINAL_PATIENCE_NS + e->patience_ns;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Waits for a combo, for a change of the session, or until something is due. */
static void export_wait(struct exporter *e, bool up)
{
	uint64_t now = monotonic_ns();
	int64_t totals = (int64_t)(e->next_totals_ns - now) / 1000000 + 1;
	struct pollfd p[2] = {
		{ .fd = e->queue->filled_fd, .events = POLLIN },
		{ .fd = e->session->changed_fd, .events = POLLIN },
	};
	int ms = queue_front(e->queue) ? WAIT_MS : 1000;

	if (up && totals < ms)
		ms = totals < 0 ? 0 : (int)totals;
	if (up)
		ms = deliver_wait_ms(&e->deliver, now, ms);
	else if (e->forward.group)
		ms = deliver_wait_ms(&e->forward.deliver, now, WAIT_MS);
	else if (export_is_bounded(e))
		ms = WAIT_MS;
	poll(p, 2, ms);
	if (p[0].revents)
		event_clear(p[0].fd);
	if (p[1].revents)
		event_clear(p[1].fd);
}

/* One turn: hear, tell, take what came, send. Returns whether there may be more to do at once.
 * Without a session the store takes what the ring had better not keep. */
static bool export_turn(struct exporter *e, bool up, bool is_new, uint64_t now)
{
	bool ending = queue_finished(e->queue);

	if (up) {
		deliver_receive(&e->deliver, now);
		if (is_new || now >= e->next_totals_ns || (ending && !e->deliver.final_number))
			export_tell(e, now, ending);
		if (now >= deliver_ask_ns(&e->deliver)) {
			deliver_asked(&e->deliver, now);
			export_tell(e, now, ending);
		}
	}
	export_keep(e, up);
	export_stow(e, up, now);
	if (up)
		deliver_send(&e->deliver, now);
	if (e->kept) {
		export_commit(e, up);
		return !e->kept;
	}
	return false;
}

/* What was not delivered stays in the spool, but for what could not be written. Returns whether
 * that is the end. */
static bool export_stay(struct exporter *e)
{
	uint8_t message[TOTALS_WIRE_MAX];
	uint64_t lost, stay;

	lost = spool_policy_end(&e->stow, e->counters.exported, message,
				export_totals_write(e, message, true), &stay);
	if (e->deliver.final || (!lost && !stay))
		return e->deliver.final;
	__atomic_store_n(&e->deliver.given_up, e->deliver.given_up + lost, __ATOMIC_RELAXED);
	if (lost)
		log_line("not all frames that were left could be written to --spool; "
			 "dropped_store %llu",
			 (unsigned long long)e->deliver.given_up);
	if (stay)
		log_line("%llu frame%s in --spool for the next run", (unsigned long long)stay,
			 stay == 1 ? " waits" : "s wait");
	e->undelivered = lost > 0;
	e->stowed = e->unconfirmed = true;
	return true;
}

/* What was not delivered is given up, and said: to the collector too, if it still hears us. */
static void export_end(struct exporter *e)
{
	uint64_t before = e->deliver.given_up, until = monotonic_ns() + LAST_WORD_NS, now;
	bool any = !e->deliver.path.generation && e->session->peer_count > 1;

	if (e->spool && export_stay(e))
		return;
	while (!store_is_empty(&e->deliver.store) && !e->deliver.final)
		deliver_drop_oldest(&e->deliver);
	e->undelivered = e->deliver.given_up > before;
	if (e->undelivered)
		log_line("collector%s%s: did not take all frames before the end; dropped_store "
			 "%llu",
			 any ? "s" : " ", any ? "" : e->session->peer,
			 (unsigned long long)e->deliver.given_up);
	while (!e->deliver.final && (now = monotonic_ns()) < until &&
	       deliver_session(&e->deliver, now)) {
		export_turn(e, true, false, now);
		export_wait(e, true);
	}
	e->unconfirmed = !e->deliver.final;
}

int export_init(struct exporter *e, size_t store_bytes)
{
	int err = deliver_init(&e->deliver, e->session, &e->counters, store_bytes);

	if (!err)
		deliver_start(&e->deliver, e->counters.next, e->counters.exported);
	spool_policy_begin(&e->stow, e->spool, &e->deliver);
	return err ?: forward_init(&e->forward, e->spool, e->session, &e->counters);
}

void export_free(struct exporter *e)
{
	deliver_free(&e->deliver);
	forward_free(&e->forward);
	spool_free(e->spool);
}

void *export_thread(void *arg)
{
	struct exporter *e = arg;

	e->moved_ns = monotonic_ns();
	while (!e->deliver.final) {
		uint64_t now = monotonic_ns();
		unsigned int generation = e->deliver.path.generation;
		bool old = forward_turn(&e->forward, now);
		bool up = deliver_session(&e->deliver, now);

		e->given_up |= export_is_over(e, up || old, now);
		if (e->given_up && spool_policy_works(&e->stow)) {
			up = false; /* what there is is written, and that is the end */
			if (queue_finished(e->queue) && spool_policy_is_whole(&e->stow))
				break;
		}
		if (!e->given_up || spool_policy_works(&e->stow)) {
			if (!export_turn(e, up, e->deliver.path.generation != generation, now))
				export_wait(e, up);
		} else if (!queue_finished(e->queue)) {
			export_give_up(e);
		} else {
			break;
		}
	}
	export_end(e);
	return NULL;
}
