// SPDX-License-Identifier: GPL-2.0
/*
 * Spool: see spool.h. In: combos in the order of their counts, what is settled. Out: the same from
 * the file. Always holds: what is in a slot is the spool thread's from spool_put() on, and a reader
 * while it is SPOOL_WANTED.
 */
#include "spool.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/capture/queue.h"
#include "agent/source/clock.h"
#include "common/log.h"

#define NEVER_MS (-1)

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
			 err == -EBADMSG	   ? "is something else, and stays as it is"
			 : err == -EPROTONOSUPPORT ? "another version of saluki has made it; it "
						     "stays as it is"
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

/* A segment is there where a record is behind its info. */
static bool segment_is_there(struct spool *s, unsigned int i, struct spool_head *h,
			     struct info_lasting *info)
{
	uint64_t at = SPOOL_SEGMENT_HEAD;
	struct spool_record r;

	if (spool_head_read(&s->file, i, h) || spool_record_read(&s->file, i, h, &at, &r) ||
	    r.kind != SPOOL_INFO || r.len > INFO_LASTING_MAX)
		return false;
	info->len = r.len;
	memcpy(info->text, r.data, r.len);
	return spool_record_read(&s->file, i, h, &at, &r) == 0;
}

/* The group that a segment belongs to: those of one process have one E. */
static unsigned int group_of(struct spool *s, unsigned int segment)
{
	const struct spool_head *h = &s->segments[segment].head;
	struct spool_head again;
	struct session_spool *g;
	unsigned int n = 0;

	while (n < s->group_count && memcmp(s->groups[n].hello[0], h->ephemeral, KEY_LEN))
		n++;
	if (n < s->group_count)
		return n;
	g = &s->groups[s->group_count++];
	g->run = h->run;
	segment_is_there(s, segment, &again, &g->info);
	for (unsigned int p = 0; p < SOCKETS_PEERS; p++)
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

static void find_old(struct spool *s)
{
	struct info_lasting info;
	int i;

	for (i = 0; i < SPOOL_SEGMENTS; i++) {
		struct spool_segment *g = &s->segments[i];

		if (!segment_is_there(s, i, &g->head, &info))
			continue;
		g->use = SEGMENT_OLD;
		s->used++;
	}
	while ((i = spool_oldest(s, SEGMENT_OLD, SPOOL_ANY_GROUP, s->order)) >= 0) {
		s->segments[i].group = group_of(s, i);
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
	s->info = s->lasting;
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

/* ---- the thread ------------------------------------------------------------------------------ */

static void *spool_thread(void *arg)
{
	struct spool *s = arg;

	pthread_setname_np(pthread_self(), "spool");
	for (;;) {
		bool stop = __atomic_load_n(&s->stop, __ATOMIC_ACQUIRE), again;

		spool_free_settled(s);
		again = spool_write_next(s, monotonic_ns());
		again |= spool_answer(s);
		again |= spool_answer_old(s);
		if (s->told && !s->failing) {
			log_line("--spool %s: writing again", s->path);
			s->told = false;
		}
		if (again)
			continue;
		if (stop)
			return NULL;
		event_wait(s->work_fd, s->failing ? SPOOL_RETRY_MS : NEVER_MS);
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

	if (spool_write_record(s, &r))
		log_line("--spool %s: the last totals could not be written", s->path);
}
