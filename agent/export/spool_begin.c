// SPDX-License-Identifier: GPL-2.0
/*
 * Spool, start: see spool.h. In: a path, the session's keys, earlier processes' segments. Out: this
 * process's keys, and groups of segments by age. Always holds: a segment that cannot be read is
 * free.
 */
#include "spool.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/log.h"

struct spool *spool_open_file(const char *path, uint64_t bytes)
{
	struct spool *s = calloc(1, sizeof(*s));
	const char *why;

	if (!s) {
		log_line("--spool %s: %s", path, strerror(ENOMEM));
		return NULL;
	}
	s->path = path;
	s->writing = -1;
	s->totals = (struct spool_record){ .kind = SPOOL_TOTALS, .data = s->totals_bytes };
	s->change = (struct spool_record){ .kind = SPOOL_INFO,
					   .data = (const uint8_t *)s->info_next.text };
	mlock(s->key, sizeof(s->key)); /* as in sensor.c */
	s->work_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	why = spool_file_open(&s->file, path, bytes);
	if (!why && s->work_fd >= 0)
		return s;
	log_line("--spool %s: %s", path, why ?: strerror(ENOMEM));
	spool_free(s);
	return NULL;
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

/* A segment is used if a record follows its info. */
static bool is_used(struct spool *s, const struct spool_head *h, struct info_lasting *info)
{
	uint64_t at = SPOOL_SEGMENT_HEAD;
	struct spool_record r;

	if (spool_record_read(&s->file, h, &at, &r, s->old.bytes) || r.kind != SPOOL_INFO ||
	    r.len > INFO_LASTING_MAX)
		return false;
	info->len = r.len;
	memcpy(info->text, r.data, r.len);
	return spool_record_read(&s->file, h, &at, &r, s->old.bytes) == 0;
}

/* Fills in what a segment's head has for a collector's key. */
static void find_key(struct session_spool_key *k, const struct spool_head *h,
		     const uint8_t public[KEY_LEN])
{
	uint8_t mark[SPOOL_MARK_LEN];

	memcpy(k->public, public, KEY_LEN);
	memcpy(k->hello, h->ephemeral, KEY_LEN);
	spool_mark(mark, public, h->ephemeral);
	for (unsigned int i = 0; i < KEYS_PEERS_MAX; i++) {
		if (memcmp(mark, h->peers[i], sizeof(mark)))
			continue;
		memcpy(k->hello + KEY_LEN, h->peers[i] + sizeof(mark), SPOOL_WRAPPED_LEN);
		k->has = true;
	}
}

static void find_keys(const struct spool *s, const struct spool_head *h, struct session_spool *g)
{
	memcpy(g->ephemeral, h->ephemeral, KEY_LEN);
	for (unsigned int p = 0; p < s->session->peer_count; p++) {
		const struct session_peer *peer = &s->session->peers[p];

		for (unsigned int i = 0; i < peer->key_count; i++) {
			find_key(&g->keys[p][i], h, peer->keys[i].public);
			g->is_for[p] = g->is_for[p] || g->keys[p][i].has;
		}
	}
}

/* Returns a segment's group, from 1: the segments of one process share E. */
static uint32_t group_of(struct spool *s, const struct spool_head *h,
			 const struct info_lasting *info)
{
	struct session_spool *g = s->groups;

	while (g < s->groups + s->group_count && memcmp(g->ephemeral, h->ephemeral, KEY_LEN))
		g++;
	if (g == s->groups + s->group_count) {
		g->run = h->run;
		g->info = *info;
		find_keys(s, h, g);
		s->group_count++;
	}
	return g - s->groups + 1;
}

static void find_old(struct spool *s)
{
	struct info_lasting info = { 0 };
	int i;

	for (i = 0; i < SPOOL_SEGMENTS; i++) {
		struct spool_segment *g = &s->segments[i];

		g->group = spool_head_read(&s->file, i, &g->head) ? SPOOL_FREE : SPOOL_FOUND;
		g->end = UINT64_MAX;
	}
	while ((i = spool_oldest(s, SPOOL_FOUND, 0, 0)) >= 0) {
		struct spool_segment *g = &s->segments[i];

		g->group = SPOOL_FREE;
		if (!is_used(s, &g->head, &info))
			continue;
		g->group = group_of(s, &g->head, &info);
		s->order = g->head.order + 1;
		s->used++;
	}
}

/* Wraps the file's key for the collectors' first keys, then for the others as far as there is room.
 * Wipes the other secrets. */
static int wrap_key(const struct spool *s, struct spool_head *h)
{
	struct keypair ephemeral;
	unsigned int n = 0;
	int err = 0;

	tryst_ephemeral(&ephemeral, s->session->own.secret, s->session->realtime_ns());
	memcpy(h->ephemeral, ephemeral.public, KEY_LEN);
	memset(h->peers, 0, sizeof(h->peers));
	for (unsigned int i = 0; i < SESSION_KEYS * s->session->peer_count; i++) {
		const struct session_peer *peer = &s->session->peers[i % s->session->peer_count];
		const struct session_key *k = &peer->keys[i / s->session->peer_count];

		if (i / s->session->peer_count >= peer->key_count || n == KEYS_PEERS_MAX || err)
			continue;
		spool_mark(h->peers[n], k->public, ephemeral.public);
		err = spool_wrap(h->peers[n++] + SPOOL_MARK_LEN, &ephemeral, k->pair, k->public,
				 s->key);
	}
	sodium_memzero(&ephemeral, sizeof(ephemeral));
	return err;
}

/* Without the old key, a collector could not open what a later process forwards. */
static void keys_changed(void *arg)
{
	struct spool *s = arg;
	struct spool_head h;

	if (wrap_key(s, &h))
		return;
	pthread_mutex_lock(&s->session->lock);
	s->head_next = h;
	__atomic_store_n(&s->head_changed, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&s->session->lock);
}

int spool_begin(struct spool *s, struct session *session, uint64_t next)
{
	int err;

	s->session = session;
	s->head.run = session->run;
	s->info = s->info_next = s->lasting;
	s->floor = s->written = s->handed = s->end = s->aged[0] = s->aged[1] = next;
	key_generate(s->key);
	err = wrap_key(s, &s->head);
	if (err) {
		log_line("--spool %s: cannot make its key", s->path);
		return err;
	}
	find_old(s);
	session->keys_changed = keys_changed;
	session->keys_changed_arg = s;
	session->spools = s->groups;
	session->spool_count = s->group_count;
	if (s->group_count)
		log_info("--spool %s: has combos of an earlier process, which go first", s->path);
	return 0;
}
