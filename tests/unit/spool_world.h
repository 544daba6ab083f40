/* SPDX-License-Identifier: GPL-2.0 */
/* A spool with its thread, without a collector and an export thread. Shared by the spool's unit
 * tests and its fuzzer. */
#ifndef TESTS_UNIT_SPOOL_WORLD_H
#define TESTS_UNIT_SPOOL_WORLD_H

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/capture/queue.h"
#include "agent/export/spool.h"

static const char first_info[] = "interface.0=one\n";

/* In place of deliver.c. */
bool deliver_put(struct deliver *to, const uint8_t *wire, size_t len, uint64_t first,
		 uint32_t frames)
{
	struct store_combo *c = store_put(&to->store, wire, len);

	if (!c)
		return false;
	c->first = first;
	c->frames = frames;
	return true;
}

/* In place of session_mailbox.c: the sensor's description stays the same. */
bool session_lasting(struct session *of, struct info_lasting *i)
{
	(void)of;
	(void)i;
	return false;
}

static uint64_t realtime(void)
{
	return 1700000000000000000ULL;
}

/* `peer` may be NULL: no collector can open the file. */
static struct session *session_new(const struct keypair *own, const struct keypair *peer)
{
	struct session *s = calloc(1, sizeof(*s));

	s->run = 42;
	s->own = *own;
	s->realtime_ns = realtime;
	s->changed_fd = eventfd(0, EFD_NONBLOCK);
	if (!peer)
		return s;
	s->peer_count = s->peers[0].key_count = 1;
	memcpy(s->peers[0].keys[0].public, peer->public, KEY_LEN);
	if (tryst_pair(s->peers[0].keys[0].pair, own, peer->public, true, NULL))
		abort();
	return s;
}

static void session_delete(struct session *s)
{
	close(s->changed_fd);
	free(s);
}

/* Returns NULL if the file is refused. */
static struct spool *spool_new(const char *path, struct session *session)
{
	struct spool *s = spool_open_file(path, 0);

	if (!s)
		return NULL;
	s->lasting.len = sizeof(first_info) - 1;
	memcpy(s->lasting.text, first_info, s->lasting.len);
	if (spool_begin(s, session, 0) || spool_start(s))
		abort();
	return s;
}

/* Waits until the thread has done some work. */
static void await(struct spool *s)
{
	event_wait(s->session->changed_fd, 1000);
}

/* Returns the next record of a group. */
static inline const struct spool_reader *read_old(struct spool *s, uint32_t group)
{
	const struct spool_reader *r;

	while (!(r = spool_read(s, &s->old, group, 0)))
		await(s);
	return r;
}

#endif
