// SPDX-License-Identifier: GPL-2.0
/*
 * Export state: how the export thread ends: see export.h. In: waiting combos, sessions, time. Out:
 * the next state, and the outcome. Always holds: dropped and spooled frames are logged, and
 * reported to the collector if it still answers.
 */
#include "common/log.h"
#include "export.h"

#define FINAL_PATIENCE_NS 8000000000ULL /* silence, a new session, and some more */
#define LAST_WORD_NS 4000000000ULL	/* silence, and some more */

/* Whether the end is awaited: with a file, or after a stop. */
static bool export_is_bounded(struct exporter *e)
{
	return e->is_file || __atomic_load_n(&e->stop, __ATOMIC_ACQUIRE);
}

/* Notes since when there is no session, and when something was last settled. */
static void export_watch(struct exporter *e, bool heard, uint64_t now_ns)
{
	if (heard)
		e->waiting_since_ns = 0;
	else if (!e->waiting_since_ns)
		e->waiting_since_ns = now_ns;
	if (store_is_empty(&e->deliver.store) && !queue_front(e->queue) &&
	    !queue_finished(e->queue))
		e->moved_ns = now_ns; /* nothing waits */
	else if (e->deliver.progress_ns > e->moved_ns)
		e->moved_ns = e->deliver.progress_ns;
	if (e->forward.deliver.progress_ns > e->moved_ns)
		e->moved_ns = e->forward.deliver.progress_ns;
}

/* Patience is over with a missing collector, or with one that settles nothing. */
static bool export_is_patient(const struct exporter *e, uint64_t now_ns)
{
	uint64_t patience_ns = __atomic_load_n(&e->patience_ns, __ATOMIC_RELAXED);

	return (!e->waiting_since_ns || now_ns - e->waiting_since_ns <= patience_ns) &&
	       now_ns <= e->moved_ns + FINAL_PATIENCE_NS + patience_ns;
}

/* Ends the spool. Returns whether it has the undelivered frames, or lost a part that could not be
 * written: then the collector needs no report. */
static bool export_stays(struct exporter *e)
{
	uint8_t message[TOTALS_WIRE_MAX];
	uint64_t lost, stay;

	if (!e->spool)
		return false;
	lost = spool_end(e->spool, e->counters.exported, message,
			 export_totals_write(e, message, true), &stay);
	if (e->deliver.final || (!lost && !stay))
		return false;
	__atomic_store_n(&e->deliver.given_up, e->deliver.given_up + lost, __ATOMIC_RELAXED);
	if (lost)
		log_line("not all frames that were left could be written to --spool; "
			 "dropped_store %llu",
			 (unsigned long long)e->deliver.given_up);
	if (stay)
		log_info("%llu frame%s in --spool for the next run", (unsigned long long)stay,
			 stay == 1 ? " waits" : "s wait");
	e->outcome = lost ? EXPORT_INCOMPLETE : EXPORT_SPOOLED;
	return true;
}

/* Drops undelivered combos, and logs it. */
static void export_drop(struct exporter *e)
{
	uint64_t before = e->deliver.given_up;
	bool any = !e->deliver.path.generation && e->session->peer_count > 1;

	while (!store_is_empty(&e->deliver.store))
		deliver_drop_oldest(&e->deliver);
	if (e->deliver.given_up == before)
		return;
	e->outcome = EXPORT_INCOMPLETE;
	log_line("collector%s%s: did not take all frames before the end; dropped_store %llu",
		 any ? "s" : " ", any ? "" : e->session->peer,
		 (unsigned long long)e->deliver.given_up);
}

/* The queue has ended, or the collector has confirmed all. */
static enum export_state export_close(struct exporter *e, uint64_t now_ns)
{
	if (export_stays(e) || e->deliver.final)
		return EXPORT_OVER;
	export_drop(e);
	e->last_word_ns = now_ns + LAST_WORD_NS;
	return EXPORT_LAST_WORD;
}

/* Patience is over: the rest goes to the spool, which may fail and recover, or is dropped. */
static enum export_state export_abandon(struct exporter *e, uint64_t now_ns)
{
	bool works = spool_works(e->spool) && !e->left;

	if (queue_finished(e->queue) && (!works || spool_is_whole(e->spool)))
		return export_close(e, now_ns);
	return works ? EXPORT_SPOOLING : EXPORT_GIVING_UP;
}

static enum export_state export_last_word(struct exporter *e, bool up, uint64_t now_ns)
{
	if (e->deliver.final)
		return EXPORT_OVER;
	if (up && now_ns < e->last_word_ns)
		return EXPORT_LAST_WORD;
	e->outcome = EXPORT_UNCONFIRMED;
	return EXPORT_OVER;
}

enum export_state export_next(struct exporter *e, bool up, bool heard, uint64_t now_ns)
{
	if (e->state == EXPORT_LAST_WORD)
		return export_last_word(e, up, now_ns);
	if (e->deliver.final)
		return export_close(e, now_ns);
	if (e->state == EXPORT_RUNNING && !export_is_bounded(e)) {
		e->moved_ns = now_ns;
		return EXPORT_RUNNING;
	}
	export_watch(e, heard, now_ns);
	if (e->state <= EXPORT_ENDING && export_is_patient(e, now_ns))
		return EXPORT_ENDING;
	return export_abandon(e, now_ns);
}
