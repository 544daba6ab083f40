// SPDX-License-Identifier: GPL-2.0
/*
 * Session link: the receiving halves of the current session and of those before it, which end a
 * little later. In: roots of new sessions. Out: the current session's path, for the export thread.
 * Always holds: a used link has its own socket, and at most one link is the current one.
 */
#include "session.h"

#include <sodium.h>

#include "agent/capture/queue.h"
#include "common/log.h"

static void link_end(struct session *s, struct session_link *l)
{
	shroud_rx_free(&l->rx, &s->table);
	sockets_give(&s->reach, l->sock);
	sodium_memzero(l, sizeof(*l));
}

void session_links_expire(struct session *s, uint64_t now_ns)
{
	for (int i = 0; i < SESSION_LINKS; i++) {
		struct session_link *l = &s->links[i];

		if (l->generation && l->ends_ns && now_ns >= l->ends_ns)
			link_end(s, l);
	}
}

/* Returns a free link, or the oldest one that is not current. */
static struct session_link *link_new(struct session *s)
{
	struct session_link *oldest = NULL;

	for (int i = 0; i < SESSION_LINKS; i++) {
		struct session_link *l = &s->links[i];

		if (!l->generation)
			return l;
		if (l != s->present && (!oldest || l->generation < oldest->generation))
			oldest = l;
	}
	link_end(s, oldest);
	return oldest;
}

static void link_retire(struct session *s, uint64_t now_ns)
{
	if (s->present)
		s->present->ends_ns = now_ns + SESSION_OLD_NS;
	s->present = NULL;
	s->renewing = false;
	sodium_memzero(&s->renewal, sizeof(s->renewal));
}

void session_retire(struct session *s, uint64_t now_ns)
{
	link_retire(s, now_ns);
	pthread_mutex_lock(&s->lock);
	s->up = false;
	pthread_mutex_unlock(&s->lock);
	event_signal(s->changed_fd);
}

/* The export thread copies it with its next datagram. */
static void session_publish(struct session *s, const struct session_link *l,
			    const struct shroud_keys *up, const struct session_path *terms)
{
	struct session_path *p = &s->path;

	__atomic_store_n(&s->first_send_ns, 0, __ATOMIC_RELAXED);
	pthread_mutex_lock(&s->lock);
	*p = *terms;
	p->generation = l->generation;
	p->sock = l->sock;
	shroud_tx_init(&p->tx, up);
	s->clock_set = s->peers[l->peer].clock_set;
	s->clock_base_ns = s->peers[l->peer].clock_base_ns;
	s->up = true;
	pthread_mutex_unlock(&s->lock);
	event_signal(s->changed_fd);
}

int session_begin(struct session *s, unsigned int peer, int sock, uint8_t k2[KEY_LEN],
		  const struct session_path *terms, uint64_t now_ns)
{
	struct session_link *l = link_new(s);
	struct shroud_keys up, down;
	int err;

	tryst_session(k2, &up, &down, l->chain);
	err = shroud_rx_init(&l->rx, &s->table, &down, 1 + (l - s->links), SHROUD_WINDOW_DOWN);
	if (!err) {
		link_retire(s, now_ns);
		l->generation = s->path.generation + 1;
		l->peer = peer;
		l->sock = sock;
		l->since_ns = now_ns;
		s->present = l;
		s->peer = s->peers[peer].address.name;
		s->next_renew_ns = now_ns + s->renew_ns;
		session_publish(s, l, &up, terms);
	}
	if (!err)
		log_verbose("collector %s: session %u begins: new keys", s->peer, l->generation);
	sodium_memzero(&up, sizeof(up));
	sodium_memzero(&down, sizeof(down));
	return err;
}
