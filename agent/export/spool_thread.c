// SPDX-License-Identifier: GPL-2.0
/*
 * Spool, the spool thread: see spool.h. In: slots, notes, settled counts, requests. Out: records in
 * the log, and the requested records. Always holds: a record stays with its reader until the reader
 * is freed, even if its segment is erased.
 */
#include "spool.h"

#include <errno.h>
#include <string.h>

#include "agent/capture/queue.h"
#include "agent/source/clock.h"
#include "common/log.h"

#define NEVER_MS (-1)
#define RETRY_MS 1000 /* between tries of a failed write */

/* ---- writing --------------------------------------------------------------------------------- */

/* Logs only a change. */
static void set_state(struct spool *s, int err, uint64_t now_ns)
{
	bool worked = s->stuck_until == SPOOL_WORKS;
	uint64_t until = err ? SPOOL_FAILS : SPOOL_WORKS;

	if (err == -EDQUOT)
		until = s->segments[spool_oldest(s, SPOOL_OURS, 0, 0)].end;
	if (err && worked)
		log_line("--spool %s: %s; what waits is kept in memory only, until it can be "
			 "written",
			 s->path,
			 err == -EDQUOT ? "has --spool-bytes; the oldest combos are given up where "
					  "others need their room"
					: strerror(-err));
	if (!err && !worked)
		log_line("--spool %s: writing again", s->path);
	s->retry_ns = err ? now_ns + RETRY_MS * 1000000ULL : 0;
	__atomic_store_n(&s->stuck_until, until, __ATOMIC_RELEASE);
}

static bool is_due(const struct spool *s, const struct spool_record *note)
{
	return __atomic_load_n(&note->len, __ATOMIC_ACQUIRE) && s->written >= note->count;
}

/* Returns the next record to write, or NULL. Totals follow the combos that they count. An info
 * comes before its combos, and only together with one. */
static struct spool_record *next_to_write(struct spool *s, uint64_t handed)
{
	if (is_due(s, &s->totals))
		return &s->totals;
	if (s->written >= handed)
		return NULL;
	return is_due(s, &s->change) ? &s->change : &s->slots[s->written % SPOOL_SLOTS].r;
}

/* Writes the next record, or skips settled combos. Returns whether there may be more to do. */
static bool write_next(struct spool *s, uint64_t now_ns)
{
	uint64_t handed = __atomic_load_n(&s->handed, __ATOMIC_ACQUIRE); /* before the floor */
	uint64_t floor = __atomic_load_n(&s->floor, __ATOMIC_ACQUIRE);
	struct spool_record *r;
	int err;

	if (s->written < handed && s->written < floor) {
		__atomic_store_n(&s->written, floor < handed ? floor : handed, __ATOMIC_RELEASE);
		event_signal(s->session->changed_fd);
		return true;
	}
	r = next_to_write(s, handed);
	if (!r || now_ns < s->retry_ns)
		return false;
	err = spool_append(s, r);
	set_state(s, err, now_ns);
	if (!err && r->kind == SPOOL_COMBO)
		__atomic_store_n(&s->written, s->written + 1, __ATOMIC_RELEASE);
	else if (!err)
		__atomic_store_n(&r->len, 0, __ATOMIC_RELEASE);
	event_signal(s->session->changed_fd);
	return !err;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* If another combo is in its place, it is lost. */
static int open_ours(struct spool *s, struct spool_reader *r, uint64_t count)
{
	size_t len = 0;

	r->r.data = spool_open(r->bytes + DERIVE_FRESH_LEN, &len, s->key, s->head.run, count,
			       r->bytes, r->r.len);
	r->r.len = len;
	return r->r.data ? 0 : -EBADMSG;
}

/* Answers the export thread's request. Returns whether there was one. */
static bool answer(struct spool *s, struct spool_reader *r)
{
	bool is_ours = r == &s->ours;
	uint64_t want;
	int err;

	if (__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) != SPOOL_WANTED)
		return false;
	want = r->want;
	do
		err = spool_next(s, r);
	while (!err && is_ours && r->r.kind != SPOOL_COMBO);
	if (is_ours && (err || open_ours(s, r, want))) {
		log_line("--spool %s: a combo cannot be read any more", s->path);
		err = -EBADMSG;
		r->order = r->want = 0; /* the one that was read may be the next: start again */
	}
	__atomic_store_n(&r->state, err ? SPOOL_NONE : SPOOL_READY, __ATOMIC_RELEASE);
	event_signal(s->session->changed_fd);
	return true;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void *spool_thread(void *arg)
{
	struct spool *s = arg;

	pthread_setname_np(pthread_self(), "spool");
	for (;;) {
		bool stop = __atomic_load_n(&s->stop, __ATOMIC_ACQUIRE), again;

		spool_free_settled(s);
		again = write_next(s, monotonic_ns());
		again |= answer(s, &s->ours);
		again |= answer(s, &s->old);
		if (again)
			continue;
		if (stop)
			return NULL;
		event_wait(s->work_fd, s->stuck_until == SPOOL_WORKS ? NEVER_MS : RETRY_MS);
	}
}

int spool_start(struct spool *s)
{
	return -pthread_create(&s->thread, NULL, spool_thread, s);
}

void spool_stop(struct spool *s)
{
	__atomic_store_n(&s->stop, true, __ATOMIC_RELEASE);
	event_signal(s->work_fd);
	pthread_join(s->thread, NULL);
}
