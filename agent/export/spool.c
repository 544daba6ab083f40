// SPDX-License-Identifier: GPL-2.0
/*
 * Spool: see spool.h. In: combos in the order of their counts, what is settled. Out: the same from
 * the file. Always holds: a key and a number seal one record; a segment is erased when all of it is
 * settled or given up, and a file with nothing in it is empty.
 */
#include "spool.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <saluki/log.h>

#include "agent/queue.h"
#include "agent/source/clock.h"

#define NEVER_MS (-1)
#define RETRY_MS 1000

/* ---- start ----------------------------------------------------------------------------------- */

struct spool *spool_open_file(const char *path, uint64_t bytes)
{
	int fd = spool_file_open(path), err;
	struct spool *s;

	if (fd < 0)
		return NULL;
	s = calloc(1, sizeof(*s));
	if (s)
		s->work_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (!s || s->work_fd < 0) {
		log_line("--spool %s: %s", path, strerror(ENOMEM));
		close(fd);
		free(s);
		return NULL;
	}
	s->path = path;
	s->writing = s->ours.segment = s->old.segment = -1;
	s->old.group = UINT64_MAX;
	mlock(s->key, sizeof(s->key)); /* as in sensor.c */
	err = spool_file_begin(&s->file, fd, bytes);
	if (err) {
		log_line("--spool %s: %s", path,
			 err == -EBADMSG ? "is something else, and stays as it is"
					 : strerror(-err));
		spool_free(s);
		return NULL;
	}
	return s;
}

void spool_free(struct spool *s)
{
	if (!s)
		return;
	close(s->file.fd);
	close(s->work_fd);
	sodium_memzero(s, sizeof(*s));
	free(s);
}

/* The group that a segment belongs to: those of one process have one E. */
static unsigned int group_of(struct spool *s, const struct spool_head *h)
{
	struct session_spool *g;
	unsigned int n = 0;

	while (n < s->group_count && memcmp(s->groups[n].hello[0], h->ephemeral, KEY_LEN))
		n++;
	if (n < s->group_count)
		return n;
	g = &s->groups[s->group_count++];
	g->run = h->run;
	for (unsigned int p = 0; p < REACH_PEERS; p++)
		memcpy(g->hello[p], h->ephemeral, KEY_LEN);
	for (unsigned int p = 0; p < s->session->peer_count; p++) {
		uint8_t mark[8];

		spool_mark(mark, s->session->peers[p].public, h->ephemeral);
		for (unsigned int i = 0; i < KEYS_PEERS_MAX; i++) {
			if (memcmp(mark, h->peers[i].mark, sizeof(mark)))
				continue;
			memcpy(g->hello[p] + KEY_LEN, h->peers[i].wrapped, SPOOL_WRAPPED_LEN);
			g->is_for[p] = true;
		}
	}
	return n;
}

/* The oldest segment that is not in a group yet, or -1. */
static int oldest_new(const struct spool *s, uint64_t above)
{
	int oldest = -1;

	for (int i = 0; i < SPOOL_SEGMENTS; i++)
		if (s->segments[i].use == SEGMENT_OLD && s->segments[i].head.order >= above &&
		    (oldest < 0 || s->segments[i].head.order < s->segments[oldest].head.order))
			oldest = i;
	return oldest;
}

/* A segment is there where its first record is. */
static void find_old(struct spool *s)
{
	struct spool_record r;
	int i;

	for (i = 0; i < SPOOL_SEGMENTS; i++) {
		struct spool_segment *g = &s->segments[i];
		uint64_t at = SPOOL_SEGMENT_HEAD;

		if (spool_head_read(&s->file, i, &g->head) ||
		    spool_record_read(&s->file, i, &g->head, &at, &r))
			continue;
		g->use = SEGMENT_OLD;
		s->used++;
	}
	while ((i = oldest_new(s, s->order)) >= 0) {
		s->segments[i].group = group_of(s, &s->segments[i].head);
		s->order = s->segments[i].head.order + 1;
	}
	s->begun = s->used > 0;
}

/* The file's key, for each collector; what opens it besides is wiped. */
static int make_keys(struct spool *s)
{
	struct keypair ephemeral;
	int err = 0;

	key_generate(s->key);
	tryst_ephemeral(&ephemeral, s->session->own.secret, s->session->realtime_ns());
	memcpy(s->head.ephemeral, ephemeral.public, KEY_LEN);
	for (unsigned int p = 0; p < s->session->peer_count && !err; p++) {
		const struct session_peer *peer = &s->session->peers[p];

		spool_mark(s->head.peers[p].mark, peer->public, ephemeral.public);
		err = spool_wrap(s->head.peers[p].wrapped, &ephemeral, peer->pair, peer->public,
				 s->key);
	}
	sodium_memzero(&ephemeral, sizeof(ephemeral));
	return err;
}

int spool_begin(struct spool *s, struct session *session, uint64_t next)
{
	int err;

	s->session = session;
	s->head.run = session->run;
	s->floor = s->written = next;
	err = make_keys(s);
	if (err) {
		log_line("--spool %s: cannot make its key", s->path);
		return err;
	}
	find_old(s);
	session->spools = s->groups;
	session->spool_count = s->group_count;
	if (s->group_count)
		log_line("--spool %s: has combos of an earlier process, which go first", s->path);
	return 0;
}

/* ---- export thread --------------------------------------------------------------------------- */

struct spool_slot *spool_slot(struct spool *s)
{
	unsigned int taken = __atomic_load_n(&s->taken, __ATOMIC_ACQUIRE);

	return s->put - taken < SPOOL_SLOTS ? &s->slots[s->put % SPOOL_SLOTS] : NULL;
}

void spool_put(struct spool *s)
{
	__atomic_store_n(&s->put, s->put + 1, __ATOMIC_RELEASE);
	event_signal(s->work_fd);
}

void spool_settle(struct spool *s, uint64_t floor)
{
	if (floor == s->floor)
		return;
	__atomic_store_n(&s->floor, floor, __ATOMIC_RELEASE);
	if (__atomic_load_n(&s->used, __ATOMIC_RELAXED))
		event_signal(s->work_fd);
}

static const struct spool_reader *ask(struct spool *s, struct spool_reader *r, uint64_t want)
{
	unsigned int state = __atomic_load_n(&r->state, __ATOMIC_ACQUIRE);

	if (state == SPOOL_WANTED)
		return NULL;
	if (state != SPOOL_IDLE)
		return r;
	r->want = want;
	__atomic_store_n(&r->state, SPOOL_WANTED, __ATOMIC_RELEASE);
	event_signal(s->work_fd);
	return NULL;
}

const struct spool_reader *spool_read(struct spool *s, uint64_t count)
{
	return ask(s, &s->ours, count);
}

const struct spool_reader *spool_read_old(struct spool *s, unsigned int group)
{
	const struct spool_reader *r = ask(s, &s->old, group);

	if (!r || (r->want == group))
		return r;
	spool_read_done(&s->old); /* of another group */
	return NULL;
}

void spool_read_done(struct spool_reader *r)
{
	__atomic_store_n(&r->state, SPOOL_IDLE, __ATOMIC_RELEASE);
}

/* ---- spool thread: segments ------------------------------------------------------------------ */

static void segment_free(struct spool *s, int i)
{
	spool_head_erase(&s->file, i);
	s->segments[i].use = SEGMENT_FREE;
	if (s->writing == i)
		s->writing = -1;
	__atomic_store_n(&s->used, s->used - 1, __ATOMIC_RELAXED);
	if (s->used)
		return;
	if (ftruncate(s->file.fd, 0) == 0)
		s->begun = false;
}

static bool is_over(const struct spool *s, const struct spool_segment *g)
{
	if (g->use == SEGMENT_OLD)
		return __atomic_load_n(&s->groups[g->group].done, __ATOMIC_ACQUIRE);
	return g->use == SEGMENT_OURS && g->last < __atomic_load_n(&s->floor, __ATOMIC_ACQUIRE);
}

static void free_settled(struct spool *s)
{
	for (int i = 0; i < SPOOL_SEGMENTS; i++)
		if (is_over(s, &s->segments[i]))
			segment_free(s, i);
}

static int segment_oldest(const struct spool *s, int use)
{
	int oldest = -1;

	for (int i = 0; i < SPOOL_SEGMENTS; i++)
		if (s->segments[i].use == use &&
		    (oldest < 0 || s->segments[i].head.order < s->segments[oldest].head.order))
			oldest = i;
	return oldest;
}

/* Those of an earlier process are the oldest, and give way first. Of ours, the export thread has to
 * give up what is in them. Returns a free segment, or -1. */
static int segment_take(struct spool *s)
{
	int old;

	for (int i = 0; i < SPOOL_SEGMENTS; i++)
		if (s->segments[i].use == SEGMENT_FREE)
			return i;
	old = segment_oldest(s, SEGMENT_OLD);
	if (old >= 0) {
		log_line("--spool %s: full; the oldest combos of an earlier process are given up",
			 s->path);
		segment_free(s, old);
		return old;
	}
	__atomic_store_n(&s->full_until, s->segments[segment_oldest(s, SEGMENT_OURS)].last + 1,
			 __ATOMIC_RELEASE);
	return -1;
}

static int segment_begin(struct spool *s, uint64_t count)
{
	struct spool_segment *g;
	int err = 0, i = segment_take(s);

	if (i < 0)
		return -EDQUOT;
	g = &s->segments[i];
	g->head = s->head;
	g->head.order = s->order++;
	randombytes_buf(&g->head.stamp, sizeof(g->head.stamp));
	g->first = count;
	g->last = count ? count - 1 : 0; /* until there is a combo */
	if (!s->begun)
		err = spool_file_write(&s->file);
	err = err ?: spool_head_write(&s->file, i, &g->head);
	s->begun |= !err;
	if (err)
		return err;
	g->use = SEGMENT_OURS;
	__atomic_store_n(&s->used, s->used + 1, __ATOMIC_RELAXED);
	s->writing = i;
	s->write_at = SPOOL_SEGMENT_HEAD;
	return 0;
}

/* ---- spool thread: writes -------------------------------------------------------------------- */

static int write_record(struct spool *s, const struct spool_record *r)
{
	int err = s->writing < 0 ? segment_begin(s, r->count) : 0;
	struct spool_segment *g = &s->segments[s->writing < 0 ? 0 : s->writing];

	err = err ?: spool_record_write(&s->file, s->writing, &g->head, &s->write_at, r);
	if (err == -EFBIG) {
		s->writing = -1;
		return write_record(s, r); /* it fits into an empty one */
	}
	if (!err && r->kind == SPOOL_COMBO)
		g->last = r->count;
	return err;
}

/* A number more also where it could not be written: a part of it may be on the disk. */
static int write_slot(struct spool *s, const struct spool_slot *slot)
{
	uint8_t *data = s->file.buffer + SPOOL_RECORD_HEAD;
	struct spool_record r = { .kind = slot->kind,
				  .count = slot->count,
				  .first = slot->first,
				  .frames = slot->frames,
				  .len = slot->len,
				  .data = data };

	if (slot->kind == SPOOL_COMBO)
		r.len = spool_seal(data, s->key, s->number++, s->head.run, slot->count, slot->bytes,
				   slot->len);
	else
		memcpy(data, slot->bytes, slot->len);
	return write_record(s, &r);
}

static void slot_done(struct spool *s, const struct spool_slot *slot)
{
	if (slot->kind == SPOOL_COMBO)
		__atomic_store_n(&s->written, slot->count + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&s->taken, s->taken + 1, __ATOMIC_RELEASE);
	event_signal(s->session->changed_fd);
}

static void write_failed(struct spool *s, int err, uint64_t now_ns)
{
	if (!s->told)
		log_line("--spool %s: %s; what waits is kept in memory only, until it can be "
			 "written",
			 s->path,
			 err == -EDQUOT ? "has --spool-bytes; the oldest combos are given up where "
					  "others need their room"
					: strerror(-err));
	s->told = true;
	s->retry_ns = now_ns + RETRY_MS * 1000000ULL;
	__atomic_store_n(&s->failing, true, __ATOMIC_RELEASE);
	event_signal(s->session->changed_fd);
}

static const struct spool_slot *slot_next(const struct spool *s)
{
	return s->taken == __atomic_load_n(&s->put, __ATOMIC_ACQUIRE)
		       ? NULL
		       : &s->slots[s->taken % SPOOL_SLOTS];
}

/* Returns whether there was something to do. */
static bool do_writes(struct spool *s, uint64_t now_ns)
{
	const struct spool_slot *slot = slot_next(s);
	bool settled = slot && slot->kind == SPOOL_COMBO &&
		       slot->count < __atomic_load_n(&s->floor, __ATOMIC_ACQUIRE);
	int err;

	if (!slot || (!settled && s->failing && now_ns < s->retry_ns))
		return false;
	err = settled ? 0 : write_slot(s, slot);
	if (err) {
		write_failed(s, err, now_ns);
		return false;
	}
	if (!settled) {
		__atomic_store_n(&s->full_until, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&s->failing, false, __ATOMIC_RELEASE);
	}
	slot_done(s, slot);
	return true;
}

/* ---- spool thread: reads --------------------------------------------------------------------- */

static void answer(struct spool *s, struct spool_reader *r, unsigned int state)
{
	__atomic_store_n(&r->state, state, __ATOMIC_RELEASE);
	event_signal(s->session->changed_fd);
}

/* What could not be written goes back to memory as it is. */
static bool read_slot(struct spool *s, struct spool_reader *r)
{
	const struct spool_slot *slot = slot_next(s);

	if (!slot || !s->failing || slot->kind != SPOOL_COMBO || slot->count != r->want)
		return false;
	r->r = (struct spool_record){
		.count = slot->count, .first = slot->first, .frames = slot->frames, .len = slot->len
	};
	r->r.data = memcpy(r->bytes, slot->bytes, slot->len);
	__atomic_store_n(&s->taken, s->taken + 1, __ATOMIC_RELEASE);
	answer(s, r, SPOOL_READY);
	return true;
}

static int segment_with(const struct spool *s, uint64_t count)
{
	for (int i = 0; i < SPOOL_SEGMENTS; i++) {
		const struct spool_segment *g = &s->segments[i];

		if (g->use == SEGMENT_OURS && g->first <= count && count <= g->last)
			return i;
	}
	return -1;
}

static int find_count(struct spool *s, struct spool_reader *r, int segment)
{
	int err;

	if (r->segment != segment || r->order != s->segments[segment].head.order ||
	    r->last >= r->want)
		r->at = SPOOL_SEGMENT_HEAD;
	r->segment = segment;
	r->order = s->segments[segment].head.order;
	do
		err = spool_record_read(&s->file, segment, &s->segments[segment].head, &r->at,
					&r->r);
	while (!err && (r->r.kind != SPOOL_COMBO || r->r.count < r->want));
	r->last = r->r.count;
	return err ?: r->r.count == r->want ? 0 : -EBADMSG;
}

/* Returns whether there was something to do. */
static bool read_ours(struct spool *s)
{
	struct spool_reader *r = &s->ours;
	const uint8_t *combo = NULL;
	size_t len;
	int segment;

	if (__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) != SPOOL_WANTED)
		return false;
	segment = segment_with(s, r->want);
	if (segment < 0)
		return read_slot(s, r);
	if (find_count(s, r, segment) == 0)
		combo = spool_open(r->bytes, &len, s->key, s->head.run, r->want, r->r.data,
				   r->r.len);
	if (!combo) {
		log_line("--spool %s: a combo cannot be read any more", s->path);
		r->last = UINT64_MAX;
		answer(s, r, SPOOL_LOST);
		return true;
	}
	r->r.data = combo;
	r->r.len = len;
	answer(s, r, SPOOL_READY);
	return true;
}

/* The next segment of the group, or -1. */
static int group_next(const struct spool *s, const struct spool_reader *r)
{
	int next = -1;

	for (int i = 0; i < SPOOL_SEGMENTS; i++) {
		const struct spool_segment *g = &s->segments[i];

		if (g->use == SEGMENT_OLD && g->group == r->want && g->head.order >= r->order &&
		    (next < 0 || g->head.order < s->segments[next].head.order))
			next = i;
	}
	return next;
}

static int next_record(struct spool *s, struct spool_reader *r)
{
	const struct spool_segment *g = &s->segments[r->segment];
	int err = g->use == SEGMENT_OLD
			  ? spool_record_read(&s->file, r->segment, &g->head, &r->at, &r->r)
			  : -ENOENT; /* it gave way */

	if (!err && r->r.kind == SPOOL_COMBO) {
		if (r->last != UINT64_MAX && r->r.count <= r->last)
			return -EBADMSG;
		r->last = r->r.count;
	}
	return err;
}

static bool read_old(struct spool *s)
{
	struct spool_reader *r = &s->old;

	if (__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) != SPOOL_WANTED)
		return false;
	if (r->group != r->want) {
		r->group = r->want;
		r->segment = -1;
		r->order = 0;
		r->last = UINT64_MAX;
	}
	while (r->segment < 0 || next_record(s, r)) {
		r->segment = group_next(s, r);
		if (r->segment < 0) {
			answer(s, r, SPOOL_END);
			return true;
		}
		r->order = s->segments[r->segment].head.order + 1;
		r->at = SPOOL_SEGMENT_HEAD;
	}
	r->r.data = memcpy(r->bytes, r->r.data, r->r.len);
	answer(s, r, SPOOL_READY);
	return true;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void *spool_thread(void *arg)
{
	struct spool *s = arg;

	pthread_setname_np(pthread_self(), "spool");
	for (;;) {
		bool stop = __atomic_load_n(&s->stop, __ATOMIC_ACQUIRE), again;

		free_settled(s);
		again = do_writes(s, monotonic_ns());
		again |= read_ours(s);
		again |= read_old(s);
		if (s->told && !s->failing) {
			log_line("--spool %s: writing again", s->path);
			s->told = false;
		}
		if (again)
			continue;
		if (stop)
			return NULL;
		event_wait(s->work_fd, s->failing ? RETRY_MS : NEVER_MS);
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

void spool_finish(struct spool *s, const uint8_t *totals, size_t len, uint64_t count)
{
	struct spool_record r = {
		.kind = SPOOL_TOTALS, .count = count, .len = len, .data = totals
	};

	if (write_record(s, &r))
		log_line("--spool %s: the last totals could not be written", s->path);
}
