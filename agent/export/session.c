// SPDX-License-Identifier: GPL-2.0
/* Session: see session.h. The cryptography is wire/seal.h's; here are time and retries. */
#include "session.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sodium.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <saluki/log.h>

#include "agent/source/clock.h"
#include "agent/queue.h"
#include "wire/piece.h"

#define RETRY_FIRST_MS 1000
#define RETRY_MAX_MS 8000

static int session_connect(const char *host, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = AI_ADDRCONFIG }, *list;
	int err = getaddrinfo(host, port, &hints, &list), sock = -1;

	if (err) { /* numeric addresses work without any configured address family */
		hints.ai_flags = AI_NUMERICHOST;
		if (getaddrinfo(host, port, &hints, &list)) {
			log_line("--to %s:%s: %s", host, port, gai_strerror(err));
			return -EINVAL;
		}
	}
	for (struct addrinfo *a = list; a && sock < 0; a = a->ai_next) {
		sock = socket(a->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (sock >= 0 && connect(sock, a->ai_addr, a->ai_addrlen)) {
			err = -errno;
			close(sock);
			sock = -1;
		}
	}
	freeaddrinfo(list);
	if (sock < 0) {
		log_line("--to %s:%s: no route to it: %s", host, port, strerror(-err));
		return -EHOSTUNREACH;
	}
	return sock;
}

/* Below the path MTU, never fragmented: if it is too small after all, sending says so. */
static void session_dont_fragment(int sock)
{
	int on = IP_PMTUDISC_DO;

	setsockopt(sock, IPPROTO_IP, IP_MTU_DISCOVER, &on, sizeof(on));
	on = IPV6_PMTUDISC_DO;
	setsockopt(sock, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &on, sizeof(on));
}

int session_init(struct session *s, const char *host, const char *port, const struct keypair *own,
		 const uint8_t *peer_key)
{
	memset(s, 0, sizeof(*s));
	pthread_mutex_init(&s->lock, NULL);
	snprintf(s->peer, sizeof(s->peer), "%.250s:%.20s", host, port);
	s->initiator.own = *own;
	memcpy(s->initiator.peer, peer_key, KEY_LEN);
	randombytes_buf(&s->run, sizeof(s->run));
	s->changed_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	s->sock = session_connect(host, port);
	if (s->sock < 0)
		return s->sock;
	session_dont_fragment(s->sock);
	return s->changed_fd < 0 ? -errno : 0;
}

void session_free(struct session *s)
{
	close(s->sock);
	close(s->changed_fd);
	pthread_mutex_destroy(&s->lock);
	sodium_memzero(s, sizeof(*s));
}

static void session_down(struct session *s)
{
	pthread_mutex_lock(&s->lock);
	s->up = false;
	pthread_mutex_unlock(&s->lock);
	event_signal(s->changed_fd);
}

static void session_answered(struct session *s, const uint8_t *in, size_t len)
{
	struct seal_session new;
	uint16_t id;

	/* While there is a session nothing was asked, and a forgery must not cost X25519. */
	if (s->up || seal_finish(&s->initiator, &new, &id, in, len)) {
		s->bad_datagrams++;
		return;
	}
	if (s->told_silent)
		log_line("collector %s: answers", s->peer);
	s->told_silent = false;
	s->unanswered = 0;
	s->rx = new.rx;
	__atomic_store_n(&s->heard, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->first_send_ns, 0, __ATOMIC_RELAXED);
	pthread_mutex_lock(&s->lock);
	s->tx = new.tx;
	s->sensor_id = id;
	s->generation++;
	s->up = true;
	pthread_mutex_unlock(&s->lock);
	sodium_memzero(&new, sizeof(new));
	event_signal(s->changed_fd);
}

static void session_receipt(struct session *s, const uint8_t *in, size_t len)
{
	uint8_t message[WIRE_DATAGRAM_MAX];
	long n = seal_open(&s->rx, message, in, len);

	if (n != RECEIPT_LEN || message[0] != PIECE_RECEIPT) {
		s->bad_datagrams++;
		return;
	}
	__atomic_store_n(&s->first_send_ns, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->heard, load_be(message + 1, 8), __ATOMIC_RELEASE);
	if (message[9] & RECEIPT_FINAL)
		__atomic_store_n(&s->heard_final, true, __ATOMIC_RELEASE);
	event_signal(s->changed_fd);
}

void session_receive(struct session *s)
{
	uint8_t in[WIRE_DATAGRAM_MAX];
	ssize_t n;

	for (;;) {
		n = recv(s->sock, in, sizeof(in), MSG_DONTWAIT);
		if (n < 0 && errno == ECONNREFUSED) {
			session_refused(s); /* an ICMP message, once; then there may be more */
			continue;
		}
		if (n < 0)
			return;
		if (n > 0 && in[0] == SEAL_ANSWER)
			session_answered(s, in, n);
		else
			session_receipt(s, in, n);
	}
}

static void session_send_init(struct session *s, uint64_t now_ns)
{
	uint8_t out[SEAL_INIT_MAX];
	char info[INFO_LEN_MAX + 1];
	long len;
	uint64_t wait_ms = RETRY_FIRST_MS << (s->unanswered < 3 ? s->unanswered : 3);

	/* So that a collector that hears of this run only now knows what it has missed. */
	s->info.exported = __atomic_load_n(s->exported, __ATOMIC_RELAXED);
	len = seal_init(&s->initiator, out, clock_ns(CLOCK_REALTIME), s->run, info,
			info_write(info, &s->info));
	if (wait_ms > RETRY_MAX_MS)
		wait_ms = RETRY_MAX_MS;
	wait_ms += randombytes_uniform(wait_ms / 4);
	s->next_init_ns = now_ns + wait_ms * 1000000ULL;
	if (s->unanswered++ == 2 && !s->told_silent) {
		log_line(
			"collector %s: no answer; is it running, is its public key the second line "
			"of --key, is this sensor's key in its --sensors file? Trying on",
			s->peer);
		s->told_silent = true;
	}
	/* Nobody there shows as silence; the next INIT is the retry. */
	if (len > 0 && send(s->sock, out, len, MSG_NOSIGNAL) < 0 && errno == ECONNREFUSED)
		send(s->sock, out, len, MSG_NOSIGNAL);
}

int session_tick(struct session *s, uint64_t now_ns)
{
	uint64_t first = __atomic_load_n(&s->first_send_ns, __ATOMIC_RELAXED);
	int64_t left;

	if (s->up && first && now_ns > first + SESSION_SILENCE_NS) {
		session_down(s);
		s->next_init_ns = 0;
	}
	if (s->up)
		return 500;
	if (now_ns >= s->next_init_ns)
		session_send_init(s, now_ns);
	left = (s->next_init_ns - now_ns) / 1000000 + 1;
	return left < 500 ? (int)left : 500;
}

void session_info_changed(struct session *s)
{
	s->info.change++;
	pthread_mutex_lock(&s->lock);
	s->change_len = info_write(s->change, &s->info);
	s->change_due = SESSION_INFO_REPEATS;
	pthread_mutex_unlock(&s->lock);
}

size_t session_info_due(struct session *s, uint8_t *message)
{
	size_t len = 0;

	pthread_mutex_lock(&s->lock);
	if (s->change_due) {
		s->change_due--;
		message[0] = PIECE_INFO;
		memcpy(message + 1, s->change, s->change_len);
		len = 1 + s->change_len;
	}
	pthread_mutex_unlock(&s->lock);
	return len;
}

bool session_use(struct session *s, struct seal_tx *tx, uint16_t *sensor_id,
		 unsigned int *generation)
{
	bool up;

	/* All under the lock: keys taken with another session's number would be taken twice, and
	 * the same counter would seal two datagrams. */
	pthread_mutex_lock(&s->lock);
	up = s->up;
	if (up && s->generation != *generation) {
		*tx = s->tx;
		*sensor_id = s->sensor_id;
		*generation = s->generation;
	}
	pthread_mutex_unlock(&s->lock);
	return up;
}

void session_sent(struct session *s, uint64_t now_ns)
{
	uint64_t none = 0;

	__atomic_compare_exchange_n(&s->first_send_ns, &none, now_ns, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

/* "Port unreachable" is not authentic: it only makes the silence be looked at sooner. */
void session_refused(struct session *s)
{
	uint64_t first = __atomic_load_n(&s->first_send_ns, __ATOMIC_RELAXED);

	if (first > SESSION_SILENCE_NS)
		__atomic_compare_exchange_n(&s->first_send_ns, &first,
					    first - SESSION_SILENCE_NS * 2 / 3, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
