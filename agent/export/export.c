// SPDX-License-Identifier: GPL-2.0
/*
 * Export thread. In: closed combos from the queue. Out: compressed combos in the store, which
 * deliver.c sends, and once a second the totals with the progress. Always holds: every
 * frame from the queue is counted as exported or as dropped for a reason, and only then its space
 * in the kernel's ring is released. The journal records each step. Allocates nothing.
 *
 * A ring outlives this agent, the store does not. So a combo's frames stay in the ring until the
 * whole combo was sent once, unless the ring is half full of waiting frames.
 */
#include "export.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/source/clock.h"
#include "common/log.h"
#include "common/monotonic.h"

#define WAIT_MS 100

static void count(__u64 *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* ---- combos ---------------------------------------------------------------------------------- */

/* Ends a combo: counts its frames, and releases their space in the ring. */
static void export_done(struct exporter *e, struct slot *s, __u64 *counter)
{
	count(counter, s->combo.frames);
	journal_commit(&e->journal, &e->counters);
	if (e->source->ops->release)
		e->source->ops->release(e->source, s->ends);
	journal_settle(&e->journal);
	queue_pop(e->queue);
	e->front = EXPORT_FRESH;
}

static void export_begin(struct exporter *e, struct slot *s)
{
	struct combo *c = &s->combo;

	journal_begin(&e->journal, c->frames, s->ends);
	if (c->body)
		return; /* closed before, or by a pipeline */
	c->first = e->counters.exported;
	combo_close(c); /* with the number of frames exported before it */
}

/* Whether waiting frames should leave the ring, as it may become full. */
static bool ring_is_short(struct exporter *e)
{
	/* A ring without this function does not outlive us. */
	return !e->source->ops->filled || e->source->ops->filled(e->source) > 256 / 2;
}

/* Compresses a combo, unless a pipeline has, and gives it its number. */
static void export_compress(struct exporter *e, struct slot *s)
{
	const struct store *store = &e->deliver.store;
	struct combo *c = &s->combo;
	uint32_t store_used = 256ULL * (store->blocks - store->free_count) / store->blocks;

	__atomic_store_n(&e->sight.store_used, store_used, __ATOMIC_RELAXED);
	export_begin(e, s);
	if (!s->wire_len) {
		uint32_t ring_used = e->source->ops->filled ? e->source->ops->filled(e->source) : 0;

		s->wire = s->wire ?: e->wire;
		s->wire_len = compressor_run(&e->compressors[0], c, s->wire, &e->sight,
					     queue_is_full(e->queue), ring_used);
	}
	/* The session gives the sensor's id, which is filled in before sealing. */
	combo_header_write(s->wire, 0, e->counters.next, c->frames, c->body_len);
	e->front = EXPORT_COMPRESSED;
}

/* Makes room in a full store if frames would be lost otherwise: newer frames are worth more. */
static bool export_make_room(struct exporter *e)
{
	if (e->is_file || !queue_is_full(e->queue) || !ring_is_short(e) ||
	    (e->spool && !spool_is_full(e->spool)))
		return false;
	deliver_drop_oldest(&e->deliver);
	return true;
}

/* Drops a combo from the queue. */
static void export_discard(struct exporter *e, struct slot *s)
{
	if (e->persistent) {
		e->left = true;
		queue_pop(e->queue);
		e->front = EXPORT_FRESH;
		return;
	}
	export_begin(e, s); /* if we are killed before its space is free, it ends there */
	export_done(e, s, &e->counters.dropped_shutdown);
}

/* After a combo was dropped, the combos that pipelines have closed begin with a wrong number of
 * frames. */
static bool is_misplaced(const struct exporter *e, const struct slot *s)
{
	return e->front == EXPORT_FRESH && s->wire_len && s->combo.first != e->counters.exported;
}

static bool is_beyond(const struct exporter *e)
{
	return e->limit && e->front == EXPORT_FRESH && e->counters.exported >= e->limit;
}

/* Moves the queue's first combo into the store, if due. */
static void export_keep(struct exporter *e, bool up)
{
	struct slot *s = queue_front(e->queue);
	/* All combos before it were sent, so it will be sent at once. */
	bool sent = up && deliver_has_sent(&e->deliver, e->deliver.store.end - 1), kept;

	while (s && (is_misplaced(e, s) || is_beyond(e))) {
		e->beyond += is_beyond(e) ? s->combo.frames : 0;
		export_discard(e, s);
		s = queue_front(e->queue);
	}
	if (!s || e->front == EXPORT_KEPT)
		return;
	if (!up && !ring_is_short(e) && !spool_works(e->spool))
		return;
	if (up && !sent && !store_is_empty(&e->deliver.store) && !ring_is_short(e))
		return;
	if (e->front == EXPORT_FRESH)
		export_compress(e, s);
	do
		kept = e->spool ? spool_keep(e->spool, s->wire, s->wire_len, s->combo.first,
					     s->combo.frames, !up || !e->is_file)
				: deliver_put(&e->deliver, s->wire, s->wire_len, s->combo.first,
					      s->combo.frames);
	while (!kept && export_make_room(e));
	if (kept)
		e->front = EXPORT_KEPT;
}

/* Writes to the spool, with totals once a second, for the next agent. */
static void export_spool(struct exporter *e, bool up, uint64_t now_ns)
{
	uint8_t message[TOTALS_WIRE_MAX];

	if (!e->spool || !spool_turn(e->spool, up, now_ns) || now_ns < e->next_spooled_ns)
		return;
	spool_totals(e->spool, message, export_totals_write(e, message, false));
	e->next_spooled_ns = now_ns + TOTALS_INTERVAL_NS;
}

static void export_committed(struct exporter *e, struct slot *s)
{
	count(&e->counters.next, 1);
	count(&e->counters.body_bytes, s->combo.body_len);
	count(&e->counters.combos, 1);
	export_done(e, s, &e->counters.exported);
}

/* Commits the stored combo when its frames need not stay in the ring: see above. Returns whether
 * its place in the queue is free. */
static bool export_commit(struct exporter *e, bool up)
{
	bool sent;

	if (e->front != EXPORT_KEPT)
		return false;
	sent = deliver_has_sent(&e->deliver, e->counters.next) ||
	       spool_has(e->spool, e->counters.next);
	if (!sent && (!ring_is_short(e) || (!up && spool_works(e->spool))))
		return false;
	export_committed(e, queue_front(e->queue));
	return true;
}

/* ---- one turn -------------------------------------------------------------------------------- */

/* Waits for a combo, for a change of the session, or until something is due. */
static void export_wait(struct exporter *e, bool up, bool forwards)
{
	uint64_t now = monotonic_ns();
	uint64_t next = e->next_totals_ns < e->next_progress_ns ? e->next_totals_ns
								: e->next_progress_ns;
	int64_t due = (int64_t)(next - now) / 1000000 + 1;
	struct pollfd p[2] = {
		{ .fd = e->queue->filled_fd, .events = POLLIN },
		{ .fd = e->session->changed_fd, .events = POLLIN },
	};
	int ms = queue_front(e->queue) ? WAIT_MS : 1000;

	if (up && due < ms)
		ms = due < 0 ? 0 : (int)due;
	if (up)
		ms = deliver_wait_ms(&e->deliver, now, ms);
	else if (forwards)
		ms = deliver_wait_ms(&e->forward.deliver, now, WAIT_MS);
	else if (e->state != EXPORT_RUNNING)
		ms = WAIT_MS;
	if (queue_front(e->queue) || e->deliver.unsent < e->deliver.store.end)
		__atomic_store_n(&e->sight.waits, e->sight.waits + 1, __ATOMIC_RELAXED);
	poll(p, 2, ms);
	if (p[0].revents)
		event_clear(p[0].fd);
	if (p[1].revents)
		event_clear(p[1].fd);
}

/* Does one turn: receives, sends totals, stores a combo and sends. Waits, unless more can be done
 * at once. Without a session, the store takes frames that should leave the ring. */
static void export_turn(struct exporter *e, bool up, bool forwards, bool is_new, uint64_t now)
{
	bool ending = queue_finished(e->queue);

	if (up) {
		deliver_receive(&e->deliver, now);
		if (is_new || now >= e->next_totals_ns || (ending && !e->deliver.final_number)) {
			export_tell(e, now, ending);
			export_progress(e, now);
		}
		if (deliver_ask(&e->deliver, now))
			export_tell(e, now, ending);
		if (now >= e->next_progress_ns)
			export_progress_between(e, now);
	}
	export_keep(e, up);
	export_spool(e, up, now);
	if (up)
		deliver_send(&e->deliver, now);
	/* If the collector has confirmed the end, the thread ends now. */
	if (!export_commit(e, up) && !e->deliver.final)
		export_wait(e, up, forwards);
}

/* Replaces a turn when patience is over and no spool can be written: drops a combo from the
 * queue. */
static void export_give_up(struct exporter *e)
{
	struct slot *s = queue_front(e->queue);

	if (!s) {
		event_wait(e->queue->filled_fd, WAIT_MS);
		return;
	}
	if (e->front == EXPORT_KEPT && e->spool) { /* its number may be in the file */
		export_committed(e, s);
		return;
	}
	if (e->front == EXPORT_KEPT)
		deliver_take_back(&e->deliver);
	export_discard(e, s);
}

/* ---- the thread ------------------------------------------------------------------------------ */

int export_init(struct exporter *e, struct source *source, struct queue *queue,
		struct session *session, const struct handover *h, int journal)
{
	int err = journal_open(&e->journal, journal, source->lanes);

	if (err)
		log_line("cannot map the journal: %s", strerror(-err));
	if (journal >= 0)
		close(journal);
	e->source = source;
	e->queue = queue;
	e->session = session;
	e->is_file = h->kind == HANDOVER_FILE;
	e->persistent = h->persistent;
	session->exported = &e->deliver.kept_first;
	return err;
}

/* The run, its next combo and the session's info are known. */
static int export_begin_spool(struct exporter *e)
{
	if (!e->spool)
		return 0;
	e->spool->deliver = &e->deliver;
	e->session->lasting = &e->spool->lasting;
	session_info_set(e->session);
	return spool_begin(e->spool, e->session, e->counters.next);
}

int export_start(struct exporter *e, size_t store_bytes)
{
	int err = export_begin_spool(e);

	if (err)
		return err;
	err = deliver_init(&e->deliver, e->session, &e->counters, store_bytes)
		      ?: forward_init(&e->forward, e->spool, &e->counters);
	if (err)
		log_line("--store-bytes %zu: %s", store_bytes, strerror(-err));
	else
		deliver_start(&e->deliver, e->counters.next, e->counters.exported);
	return err;
}

uint64_t export_first(const struct exporter *e)
{
	const struct slot *pending = queue_front(e->queue); /* of an earlier agent */

	return e->counters.exported + (pending ? pending->combo.frames : 0);
}

void export_free(struct exporter *e)
{
	deliver_free(&e->deliver);
	deliver_free(&e->forward.deliver);
	spool_free(e->spool);
	for (unsigned int i = 0; i < e->compressors_len; i++)
		compressor_free(&e->compressors[i]);
	journal_close(&e->journal);
}

void *export_thread(void *arg)
{
	struct exporter *e = arg;

	e->moved_ns = monotonic_ns();
	while (e->state != EXPORT_OVER) {
		uint64_t now = monotonic_ns();
		unsigned int generation = e->deliver.path.generation;
		bool forwards = e->state != EXPORT_LAST_WORD && forward_turn(&e->forward, now);
		bool up = deliver_session(&e->deliver, now);

		e->state = export_next(e, up, up || forwards, now);
		if (e->state == EXPORT_GIVING_UP)
			export_give_up(e);
		else if (e->state != EXPORT_OVER)
			export_turn(e, up && e->state != EXPORT_SPOOLING,
				    forwards && !e->forward.group->done,
				    e->deliver.path.generation != generation, now);
	}
	return NULL;
}
