// SPDX-License-Identifier: GPL-2.0
/*
 * Session: see session.h. In: the time, the current session. Out: the messages that keep it up:
 * renewals, probes, the sensor's description. Without a session, asks for one when due.
 */
#include "session.h"

#include <errno.h>
#include <sodium.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/source/clock.h"
#include "common/log.h"
#include "instance.h"

#define SECOND_NS 1000000000ULL
#define PROBES_FIRST 8 /* a second apart, later ones ten */
#define TICK_MS 500

_Static_assert(SOCKETS_PEERS == KEYS_PEERS_MAX, "a key each");

/* ---- time ------------------------------------------------------------------------------------ */

uint64_t session_time(const struct session *s, unsigned int peer, uint64_t now_ns)
{
	const struct session_peer *p = &s->peers[peer];

	return p->clock_set ? now_ns + p->clock_base_ns : s->realtime_ns();
}

/* ---- a session that is up -------------------------------------------------------------------- */

static bool session_is_silent(const struct session *s, uint64_t now_ns)
{
	uint64_t first = __atomic_load_n(&s->first_send_ns, __ATOMIC_RELAXED);

	return first && now_ns > first + SESSION_SILENCE_NS;
}

static void session_renew(struct session *s, uint64_t now_ns)
{
	uint8_t message[MESSAGE_RENEW_LEN] = { MESSAGE_RENEW };

	if (!s->renewing)
		tryst_ephemeral(&s->renewal, s->own.secret,
				session_time(s, s->present->peer, now_ns));
	s->renewing = true;
	memcpy(message + 1, s->renewal.public, KEY_LEN);
	session_post(s, message, sizeof(message));
	s->next_renew_ns = now_ns + SECOND_NS;
}

/* HEARD is repeated with it: if datagrams are lost in a new session, where few may be in flight,
 * the collector might otherwise wait for a HEARD that never comes. */
static void session_probe(struct session *s, uint64_t now_ns)
{
	uint8_t message[MESSAGE_PROBE_LEN] = { MESSAGE_PROBE };
	uint8_t heard[MESSAGE_HEARD_LEN] = { MESSAGE_HEARD };

	session_post(s, message, sizeof(message));
	store_be(heard + 1, s->present->rx.highest, 8);
	if (s->present->rx.highest)
		session_post(s, heard, sizeof(heard));
	s->next_probe_ns = now_ns + (s->probes < PROBES_FIRST ? 1 : 10) * SECOND_NS;
	s->probes++;
}

void session_tell(struct session *s, uint64_t now_ns)
{
	uint8_t message[INFO_MESSAGE_MAX + 1] = { MESSAGE_INFO };

	s->info_due--;
	session_keys_tell(&s->peers[s->present->peer], s->info.trusts);
	s->next_info_ns = now_ns + SECOND_NS;
	session_post(s, message, 1 + info_write((char *)message + 1, &s->info));
}

/* A collector of higher priority gets the session as soon as it answers. */
static void session_try_better(struct session *s, uint64_t now_ns)
{
	s->next_better_ns = now_ns + SESSION_BETTER_NS;
	session_ask(s, s->better % s->present->peer, now_ns);
	s->better++;
}

static void session_keep_up(struct session *s, uint64_t now_ns)
{
	if (now_ns >= s->next_renew_ns)
		session_renew(s, now_ns);
	if (now_ns >= s->next_probe_ns)
		session_probe(s, now_ns);
	/* A forwarding session has the info of its spool (forward.h). The next hello has ours.
	 */
	if (s->info_due && !s->path.spool && now_ns >= s->next_info_ns)
		session_tell(s, now_ns);
	if (s->present->peer && now_ns >= s->next_better_ns)
		session_try_better(s, now_ns);
}

/* Returns milliseconds until `at_ns`, if not 0, and at most TICK_MS. */
static int tick_until(uint64_t at_ns, uint64_t now_ns)
{
	int64_t left = (int64_t)(at_ns - now_ns) / 1000000 + 1;

	return at_ns && left < TICK_MS ? (int)left : TICK_MS;
}

/* Chooses a collector with a known address. Returns false if there is none. */
static bool session_can_ask(struct session *s)
{
	for (unsigned int i = 0; i < s->peer_count && !s->reach.ended; i++) {
		unsigned int peer = (s->trying + i) % s->peer_count;

		if (!s->peers[peer].address.len)
			continue;
		if (i)
			s->unanswered = 0;
		s->trying = peer;
		return true;
	}
	return false;
}

/* Ends the current session, and requests another one at once. */
static void session_replace(struct session *s, uint64_t now_ns)
{
	session_retire(s, now_ns);
	s->next_init_ns = 0;
}

/* The collector is silent, or all that this session forwards is delivered. */
static bool session_is_over(const struct session *s, uint64_t now_ns)
{
	return session_is_silent(s, now_ns) ||
	       s->path.spool != session_spool_for(s, s->present->peer);
}

static int session_tick_answered(struct session *s, uint64_t now_ns)
{
	int left;

	if (s->present && session_is_silent(s, now_ns))
		s->connected = false;
	if (s->present && session_is_over(s, now_ns))
		session_replace(s, now_ns);
	if (s->present)
		session_keep_up(s, now_ns);
	else if (now_ns >= s->next_init_ns && !session_can_ask(s))
		s->next_init_ns = 0; /* as soon as an address is known */
	else if (now_ns >= s->next_init_ns)
		session_handshake(s, now_ns);
	left = tick_until(session_ask_on(s, now_ns), now_ns);
	return s->present || left < tick_until(s->next_init_ns, now_ns)
		       ? left
		       : tick_until(s->next_init_ns, now_ns);
}

static const struct session_ops answered = {
	.receives = true,
	.tick = session_tick_answered,
	.replace = session_replace,
};

int session_tick(struct session *s, uint64_t now_ns)
{
	session_links_expire(s, now_ns);
	return s->ops->tick(s, now_ns);
}

void session_new_keys(struct session *s, uint64_t now_ns)
{
	if (!s->present)
		return;
	log_line("this machine was resumed from a snapshot: making new keys");
	s->ops->replace(s, now_ns);
}

/* ---- what others want to be said ------------------------------------------------------------- */

void session_info_set(struct session *s)
{
	struct info_lasting lasting;

	if (!s->lasting)
		return;
	info_write_lasting(&lasting, &s->info);
	pthread_mutex_lock(&s->lock);
	*s->lasting = lasting;
	pthread_mutex_unlock(&s->lock);
}

void session_info_changed(struct session *s)
{
	s->info.change++;
	session_info_set(s);
	s->info_due = SESSION_INFO_REPEATS;
	s->next_info_ns = 0;
}

void session_answer(struct session *s, uint64_t number, uint8_t status, const char *text)
{
	uint8_t message[INFO_MESSAGE_MAX] = { MESSAGE_ANSWER };
	size_t len = strnlen(text, sizeof(message) - 10);

	store_be(message + 1, number, 8);
	message[9] = status;
	memcpy(message + 10, text, len);
	session_post(s, message, 10 + len);
}

/* ---- start and end --------------------------------------------------------------------------- */

static uint64_t realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/* Opens sockets for its address family; for a name, for both families. A machine may lack one of
 * them. */
static int session_sockets(struct session *s, const struct sockets_name *to,
			   const struct session_peer *p)
{
	int err, err6;

	if (!to->host)
		sockets_inherit(&s->reach, to->inherited);
	if (p->address.len)
		return sockets_open(&s->reach, p->address.to.ss_family);
	err = sockets_open(&s->reach, AF_INET);
	err6 = sockets_open(&s->reach, AF_INET6);
	return err && err6 ? err : 0;
}

/* At boot the network may come later, so this waits for a route and for a name's address. */
static int session_add_peer(struct session *s, const struct sockets_name *to,
			    const struct keys_peer *from)
{
	struct session_peer *p = &s->peers[s->peer_count];
	struct order_keys keys = { .count = sodium_is_zero(from->next, KEY_LEN) ? 1 : 2 };
	int err = sockets_numeric(&p->address, to) || !to->host ? 0 : sockets_route(&p->address);

	if (err) {
		session_no_route(s, s->peer_count, err);
		session_tell_asking(s, s->peer_count);
	}
	memcpy(p->first, from->public, KEY_LEN);
	memcpy(p->next, from->next, KEY_LEN);
	memcpy(p->preshared, from->preshared, KEY_LEN);
	memcpy(keys.key[0], from->public, KEY_LEN);
	memcpy(keys.key[1], from->next, KEY_LEN);
	if (session_keys_set(s, s->peer_count, &keys)) {
		log_line("--key: what it has as public key of collector %s is none",
			 p->address.name);
		return -EINVAL;
	}
	err = session_sockets(s, to, p);
	if (err)
		log_line("cannot open sockets: %s", strerror(-err));
	s->peer_count++;
	return err;
}

static int session_memory(struct session *s)
{
	s->changed_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	/* Room for the windows of two sessions. It grows if many earlier addresses are missing. */
	return s->changed_fd < 0 ? -errno : table_init(&s->table, 2 * SHROUD_WINDOW_DOWN);
}

int session_init(struct session *s, const struct sockets_name *to, unsigned int count,
		 const struct keypair *own, const struct keys_peers *peers)
{
	int err;

	memset(s, 0, offsetof(struct session, outbox));
	for (int i = 0; i < SESSION_OUTBOX; i++)
		if (s->outbox[i].len) /* unwritten pages take no memory */
			s->outbox[i].len = 0;
	pthread_mutex_init(&s->lock, NULL);
	s->ops = &answered;
	s->asked.sock = s->keys_file.fd = -1;
	s->realtime_ns = realtime_ns;
	s->renew_ns = SESSION_RENEW_NS;
	s->window = SESSION_WINDOW;
	s->own = *own;
	instance_make(s->instance, own->secret);
	randombytes_buf(&s->run, sizeof(s->run));
	if (peers->count > 1 && peers->count != count) {
		log_line("--key has public keys of %u collectors, but --to is given %u times",
			 peers->count, count);
		return -EINVAL;
	}
	err = session_memory(s);
	for (unsigned int i = 0; i < count && !err; i++)
		err = session_add_peer(s, &to[i], &peers->peer[peers->count > 1 ? i : 0]);
	s->peer = s->peers[0].address.name;
	return err;
}

void session_free(struct session *s)
{
	sockets_close(&s->reach);
	table_free(&s->table);
	close(s->changed_fd);
	close(s->keys_file.fd);
	pthread_mutex_destroy(&s->lock);
	sodium_memzero(s, sizeof(*s));
	s->changed_fd = s->asked.sock = s->keys_file.fd = -1;
}
