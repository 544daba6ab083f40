// SPDX-License-Identifier: GPL-2.0
/* Source: see source.h. */
#include "source.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collector/output/output.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "wire/bytes.h"
#include "wire/put_text.h"

#define HELLO_NS 5000000000ULL
#define ROUND_NS 2000000ULL /* then other work is done */
#define RETRY_MS 100
#define ULL(x) ((unsigned long long)(x))

int source_init(struct source *s, int listener, struct combos *c)
{
	s->listener = listener;
	s->sock = -1;
	return take_init(&s->take, c);
}

void source_free(struct source *s)
{
	if (s->sock >= 0)
		close(s->sock);
	if (s->listener >= 0)
		close(s->listener);
	s->sock = s->listener = -1;
	take_free(&s->take);
}

/* ---- connections ----------------------------------------------------------------------------- */

/* The peer sends again what has no DONE. */
static void disconnect(struct source *s, const char *why)
{
	if (s->greeted)
		log_info("--source: saluki-kafka is not connected any more: %s", why);
	close(s->sock);
	s->sock = -1;
	s->messages -= s->waits;
	s->waits = s->greeted = s->blocked = false;
	done_forget(&s->take.done);
	s->state = (struct source_state){ .lag = 0 };
}

static void refuse(struct source *s, const char *why)
{
	if (!s->refused)
		log_line("--source: refused a connection: %s", why);
	s->refused = true;
	disconnect(s, why);
}

static void connected(struct source *s, int sock, uint64_t now_ns)
{
	uint8_t hello[PUT_HELLO_LEN];

	put_hello(hello, PUT_ROLE_SOURCE);
	s->sock = sock;
	s->begun_ns = now_ns;
	if (send(sock, hello, sizeof(hello), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		disconnect(s, strerror(errno));
}

static void accept_next(struct source *s, uint64_t now_ns)
{
	int sock = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (sock < 0)
		return;
	if (s->sock < 0) {
		connected(s, sock, now_ns);
		return;
	}
	if (!s->busy)
		log_line("--source: refused a connection, as there is one; each collector takes "
			 "one saluki-kafka");
	s->busy = true;
	close(sock);
}

static void take_hello(struct source *s, size_t len)
{
	int err = put_hello_read(s->message, len, PUT_ROLE_SOURCE);

	if (err) {
		refuse(s, err == -EPROTO       ? "it has another version of the protocol; install "
						 "the same release of both programs"
			  : err == -EPROTOTYPE ? "it wants to take combos; 'saluki-kafka put' "
						 "connects to --sink"
					       : "it is not saluki-kafka");
		return;
	}
	s->greeted = true;
	s->state.moves =
		UINT64_MAX; /* while nobody was connected, partitions may have been elsewhere */
	s->refused = s->busy = false;
	log_info("--source: saluki-kafka is connected");
}

/* ---- state ----------------------------------------------------------------------------------- */

static void take_state(struct source *s, size_t len)
{
	const char *text = (const char *)s->message + 1;
	struct source_state new = { .lag = put_text_number(text, --len, "lag"),
				    .moves = put_text_number(text, len, "moves") };

	put_text_value(text, len, "why", new.why, sizeof(new.why));
	put_text_value(text, len, "topic", new.topic, sizeof(new.topic));
	put_text_value(text, len, "brokers", new.brokers, sizeof(new.brokers));
	if (*new.why && strcmp(new.why, s->state.why))
		log_line("--source: saluki-kafka: %s", new.why);
	else if (!*new.why && * s->state.why)
		log_line("--source: saluki-kafka: combos come again");
	if (new.moves != s->state.moves)
		take_moved(&s->take, monotonic_ns());
	s->state = new;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Without DONE, it would come again in each connection. */
static void take_malformed(struct source *s, size_t len, uint64_t now_ns)
{
	struct done *d = &s->take.done;

	s->messages++;
	take_bad(&s->take, "a message of saluki-kafka is malformed", now_ns);
	if (len >= 9)
		done_add(d, load_be(s->message + 1, 8), NULL, s->take.combos->output);
}

static void take_put(struct source *s, size_t len, uint64_t now_ns)
{
	if (put_read(&s->put, s->message, len)) {
		take_malformed(s, len, now_ns);
		return;
	}
	s->messages++;
	s->waits = !take_message(&s->take, &s->put, now_ns);
}

static void take(struct source *s, size_t len, uint64_t now_ns)
{
	if (!s->greeted)
		take_hello(s, len);
	else if (s->message[0] == PUT_MESSAGE)
		take_put(s, len, now_ns);
	else if (s->message[0] == PUT_STATE)
		take_state(s, len);
	else
		s->strange++;
}

static bool can_read(const struct source *s)
{
	return s->sock >= 0 && !s->waits && !done_full(&s->take.done);
}

/* Reads one message. Returns whether there may be more. */
static bool receive(struct source *s, uint64_t now_ns)
{
	ssize_t n = recv(s->sock, s->message, sizeof(s->message), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		disconnect(s, n ? strerror(errno) : "it has closed its socket");
		return false;
	}
	take(s, n, now_ns);
	return can_read(s);
}

/* ---------------------------------------------------------------------------------------------- */

void source_polled(const struct source *s, struct pollfd p[SOURCE_FDS])
{
	p[0] = (struct pollfd){ .fd = s->listener, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = s->sock,
				.events = (can_read(s) ? POLLIN : 0) | (s->blocked ? POLLOUT : 0) };
}

bool source_serve(struct source *s, const struct pollfd p[SOURCE_FDS], uint64_t now_ns)
{
	uint64_t until = now_ns + ROUND_NS;

	if (p[1].revents && s->sock >= 0 && !can_read(s) && p[1].revents & (POLLHUP | POLLERR))
		disconnect(s, "it has closed its socket");
	if (p[1].revents & (POLLIN | POLLHUP | POLLERR) && can_read(s))
		while (receive(s, now_ns))
			if ((now_ns = monotonic_ns()) > until)
				return true;
	if (p[0].revents)
		accept_next(s, now_ns);
	return false;
}

/* Viewers see a new sensor's name at most RETRY_MS later. */
static void show_sensors(struct source *s, uint64_t now_ns)
{
	struct output *out = s->take.combos->output;

	if (!s->take.roster.changed || now_ns < s->looked_ns + RETRY_MS * 1000000ULL)
		return;
	s->take.roster.changed = false;
	s->looked_ns = now_ns;
	if (out->live)
		live_sensors(out->live, s->take.combos->sensors);
}

static void send_done(struct source *s)
{
	int err = s->sock < 0 ? 0 : done_send(&s->take.done, s->sock, s->take.combos->output);

	s->blocked = err == -EAGAIN;
	if (err && !s->blocked)
		disconnect(s, strerror(-err));
}

int source_tick(struct source *s, uint64_t now_ns)
{
	if (s->waits)
		s->waits = !take_message(&s->take, &s->put, now_ns);
	send_done(s);
	if (s->sock >= 0 && !s->greeted && now_ns > s->begun_ns + HELLO_NS)
		refuse(s, "it does not say what it is");
	show_sensors(s, now_ns);
	if (s->waits || s->take.roster.changed)
		return RETRY_MS;
	return s->sock >= 0 && !s->greeted ? monotonic_timeout(s->begun_ns + HELLO_NS + 1, now_ns)
					   : -1;
}

void source_finish(struct source *s)
{
	send_done(s);
}

void source_print(const struct source *s, FILE *out)
{
	const struct take_counts *c = &s->take.counts;

	fprintf(out,
		"source: messages %llu = combos %llu + repeated %llu + bad %llu + unknown record "
		"%llu "
		"+ no place %llu + totals %llu + records %llu + others %llu + waiting %d; balance "
		"%lld; late combos %llu, repeated frames %llu, strange %llu, done %llu\n",
		ULL(s->messages), ULL(c->combos), ULL(c->repeated), ULL(c->bad),
		ULL(c->unknown_record), ULL(c->no_place), ULL(c->totals), ULL(c->records),
		ULL(c->others), s->waits, (long long)(s->messages - take_sum(c) - s->waits),
		ULL(s->take.late), ULL(s->take.repeated_frames), ULL(s->strange),
		ULL(s->take.done.sent));
}
