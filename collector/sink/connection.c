// SPDX-License-Identifier: GPL-2.0
/* Connection: see connection.h. */
#include "connection.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "window.h"
#include "wire/bytes.h"
#include "wire/put_text.h"

#define BATCH 64
#define HELLO_NS 5000000000ULL /* a program that says nothing keeps saluki-kafka away */
/* saluki-kafka ends the connection once a second while it cannot write a topic. */
#define TOLD_NS 60000000000ULL
#define WELL_NS 3000000000ULL

static void hang_up(struct connection *c)
{
	if (c->sock >= 0)
		close(c->sock);
	c->sock = -1;
	c->greeted = c->wants_out = false;
}

void connection_close(struct connection *c)
{
	hang_up(c);
	if (c->listener >= 0)
		close(c->listener);
	c->listener = -1;
}

/* ---- from saluki-kafka ----------------------------------------------------------------------- */

static void turn_away(struct connection *c, const char *why)
{
	if (!c->logged)
		log_line("--sink: %s", why);
	c->logged = true;
	hang_up(c);
}

/* Whether the log has not lately been told that saluki-kafka came or went. */
static bool may_tell(struct connection *c)
{
	uint64_t now = monotonic_ns();

	if (c->told_ns && now - c->told_ns < TOLD_NS)
		return false;
	c->told_ns = now;
	return true;
}

static void greet(struct connection *c, const uint8_t *in, size_t len)
{
	int err = put_hello_read(in, len, PUT_ROLE_SINK);

	c->greeted = !err;
	if (err) {
		turn_away(c, err == -EPROTOTYPE ? "'saluki-kafka get' connected; this socket is "
						  "for 'saluki-kafka put'"
			     : err == -EPROTO	? "saluki-kafka has another version"
						: "a program that is not saluki-kafka connected");
		return;
	}
	c->logged = false;
	c->greetings++;
	if (!*c->said)
		log_info("--sink: saluki-kafka is connected");
}

/* A new connection says that all is well before it has tried. */
static void log_why(struct connection *c, const char *why, uint64_t now_ns)
{
	if (*why)
		c->bad_ns = now_ns;
	if (!strcmp(why, c->said) || (!*why && now_ns - c->bad_ns < WELL_NS))
		return;
	log_line("--sink: %s", *why ? why : "combos go to the brokers again");
	strcpy(c->said, why);
}

static void take_state(struct connection *c, const char *text, size_t len)
{
	char why[PUT_TEXT_MAX];

	put_text_value(text, len, "topic", c->topic, sizeof(c->topic));
	put_text_value(text, len, "brokers", c->brokers, sizeof(c->brokers));
	put_text_value(text, len, "why", why, sizeof(why));
	log_why(c, why, monotonic_ns());
	strcpy(c->why, why);
}

static void take_refused(const uint8_t *in, size_t len, const struct connection_user *u)
{
	char reason[256];

	if (len < 9)
		return;
	put_text_copy(reason, sizeof(reason), (const char *)in + 9, len - 9);
	u->done(u->arg, load_be(in + 1, 8), reason);
}

static void take(struct connection *c, const uint8_t *in, size_t len,
		 const struct connection_user *u)
{
	if (!c->greeted) {
		greet(c, in, len);
		return;
	}
	switch (in[0]) {
	case PUT_DONE:
		for (size_t at = 1; at + 8 <= len; at += 8)
			u->done(u->arg, load_be(in + at, 8), NULL);
		break;
	case PUT_REFUSED:
		take_refused(in, len, u);
		break;
	case PUT_STATE:
		take_state(c, (const char *)in + 1, len - 1);
		break;
	}
}

/* Takes some: datagrams come in between. Returns whether the other end is still there. */
static bool take_some(struct connection *c, const struct connection_user *u)
{
	uint8_t in[PUT_DONE_BYTES];
	ssize_t len = 1;

	for (int n = 0; n < BATCH && len > 0 && c->sock >= 0; n++) {
		len = recv(c->sock, in, sizeof(in), MSG_DONTWAIT);
		if (len > 0)
			take(c, in, len, u);
	}
	return c->sock < 0 || len > 0 || (len < 0 && (errno == EAGAIN || errno == EINTR));
}

/* ---- to saluki-kafka ------------------------------------------------------------------------- */

static unsigned int batch_of(const struct window *w, struct mmsghdr *m, struct iovec *v)
{
	unsigned int n = 0;

	for (struct window_entry *e = w->unsent; e && n < BATCH; e = e->next, n++) {
		v[n] = (struct iovec){ e->bytes, e->len };
		m[n] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &v[n], .msg_iovlen = 1 } };
	}
	return n;
}

/* Returns whether the other end is still there. */
static bool send_all(struct connection *c, struct window *w)
{
	struct mmsghdr m[BATCH];
	struct iovec v[BATCH];
	unsigned int n;
	int sent;

	c->wants_out = false;
	while ((n = batch_of(w, m, v))) {
		sent = sendmmsg(c->sock, m, n, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && errno != EAGAIN && errno != ENOBUFS)
			return false;
		for (int i = 0; i < sent; i++)
			w->unsent = w->unsent->next;
		c->wants_out = sent < (int)n;
		if (c->wants_out)
			return true;
	}
	return true;
}

/* ---------------------------------------------------------------------------------------------- */

static void answer(struct connection *c, struct window *w)
{
	uint8_t hello[PUT_HELLO_LEN];

	c->sock = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (c->sock < 0)
		return;
	c->begun_ns = monotonic_ns();
	put_hello(hello, PUT_ROLE_SINK);
	if (send(c->sock, hello, sizeof(hello), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		hang_up(c);
	window_again(w);
}

void connection_serve(struct connection *c, struct window *w, const struct connection_user *u)
{
	bool there;

	if (c->sock < 0)
		answer(c, w);
	if (c->sock < 0)
		return;
	there = take_some(c, u);
	if (c->sock < 0)
		return; /* it was turned away */
	if (there && c->greeted)
		there = send_all(c, w);
	if (there && !c->greeted && monotonic_ns() > c->begun_ns + HELLO_NS) {
		turn_away(c, "a program connected, and does not say what it is");
		return;
	}
	if (there)
		return;
	if (c->greeted && !*c->said && may_tell(c))
		log_line("--sink: saluki-kafka has gone; sensors keep their frames until it is "
			 "back");
	hang_up(c);
}

int connection_timeout(const struct connection *c)
{
	if (c->sock < 0 || c->greeted)
		return -1;
	return monotonic_timeout(c->begun_ns + HELLO_NS + 1, monotonic_ns());
}

int connection_polled(const struct connection *c, const struct window *w, short *events)
{
	*events = POLLIN | (c->sock >= 0 && c->wants_out && w->unsent ? POLLOUT : 0);
	return c->sock >= 0 ? c->sock : c->listener;
}
