// SPDX-License-Identifier: GPL-2.0
/* Control: see control.h. */
#include "control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <saluki/log.h>

#include "reply.h"

#define LISTENER CONTROL_CLIENTS /* in epoll's data, behind the clients */

int control_init(struct control *c, int listener, struct open *o)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = LISTENER };

	memset(c, 0, sizeof(*c));
	c->listener = listener;
	c->epoll = -1;
	c->open = o;
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		c->clients[i].fd = -1;
	if (listener < 0)
		return 0;
	o->answered = control_answered;
	o->answered_user = c;
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll >= 0 && epoll_ctl(c->epoll, EPOLL_CTL_ADD, listener, &e) == 0)
		return 0;
	log_line("cannot wait for orders: %s", strerror(errno));
	return -errno;
}

static void client_close(struct control_client *k)
{
	if (k->fd >= 0)
		close(k->fd); /* epoll forgets it */
	*k = (struct control_client){ .fd = -1 };
}

void control_free(struct control *c)
{
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		client_close(&c->clients[i]);
	if (c->listener >= 0)
		close(c->listener);
	if (c->epoll >= 0)
		close(c->epoll);
	c->listener = c->epoll = -1;
}

/* The last word. Who does not read it is not waited for. */
static void reply(struct control_client *k, enum control_reply what, const char *text)
{
	char out[CONTROL_REPLY_MAX];
	int len = snprintf(out, sizeof(out), "%c %s", what, text);

	if (len >= (int)sizeof(out))
		len = sizeof(out) - 1;
	send(k->fd, out, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	client_close(k);
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* Whether an earlier client's order to the same sensor is still on its way. */
static bool must_wait(const struct control *c, const struct control_client *k)
{
	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		const struct control_client *other = &c->clients[i];

		if (other->fd >= 0 && other->has_asked && other->turn < k->turn &&
		    !strcmp(other->sensor, k->sensor))
			return true;
	}
	return false;
}

/* Numbers rise, also over restarts: protocol time does. */
static uint64_t next_number(struct control *c)
{
	uint64_t now = meet_time(&c->open->meet);

	c->number = now > c->number ? now : c->number + 1;
	return c->number;
}

static void order(struct control *c, struct control_client *k, uint64_t now_ns)
{
	struct sensor *s = sensors_by_name(c->open->sensors, k->sensor);
	uint8_t message[ORDER_MESSAGE_MAX];
	char why[128];
	int err;

	if (!s) {
		snprintf(why, sizeof(why), "%s: no such sensor in the --sensors file", k->sensor);
		reply(k, CONTROL_FAILED, why);
		return;
	}
	k->number = k->number ?: next_number(c);
	err = reply_send(c->open, s, message, order_write(message, k->number, k->text));
	if (err == -ENOTCONN || err == -EOPNOTSUPP) {
		snprintf(why, sizeof(why), "%s: %s", k->sensor,
			 err == -ENOTCONN ? "has no session with this collector now"
					  : "exports one way (--one-way), it hears no orders");
		reply(k, CONTROL_FAILED, why);
		return;
	}
	k->due_ns = now_ns + (err ? CONTROL_AGAIN_NS : CONTROL_REPEAT_NS);
}

void control_answered(void *user, struct sensor *s, uint64_t number, uint8_t status,
		      const uint8_t *text, size_t len)
{
	struct control *c = user;
	char out[ANSWER_TEXT_MAX + 1];
	struct answer_message a;
	uint8_t message[ANSWER_MESSAGE_MAX];

	if (len > ANSWER_TEXT_MAX)
		return;
	/* Read by the one who knows what a text may be. */
	memcpy(message + 10, text, len);
	message[0] = MESSAGE_ANSWER;
	store_be(message + 1, number, 8);
	message[9] = status;
	if (answer_read(&a, message, 10 + len))
		return;
	snprintf(out, sizeof(out), "%s", a.text);
	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		struct control_client *k = &c->clients[i];

		if (k->fd >= 0 && number && k->number == number && !strcmp(k->sensor, s->name))
			reply(k, status == ANSWER_DONE ? CONTROL_DONE : CONTROL_FAILED, out);
	}
}

/* ---- clients --------------------------------------------------------------------------------- */

static void take_client(struct control *c, uint64_t now_ns)
{
	int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct control_client late = { .fd = fd };
	struct epoll_event e = { .events = EPOLLIN };
	char request[CONTROL_REQUEST_MAX];

	if (fd < 0)
		return;
	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		struct control_client *k = &c->clients[i];

		if (k->fd >= 0)
			continue;
		e.data.u32 = i;
		if (epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &e))
			break;
		*k = (struct control_client){
			.fd = fd,
			.turn = ++c->turns,
			.due_ns = now_ns + CONTROL_SILENCE_NS,
		};
		return;
	}
	/* What is not read would be in front of the reply, as an error. */
	recv(fd, request, sizeof(request), MSG_DONTWAIT);
	reply(&late, CONTROL_FAILED, "too many orders are waited for; try again");
}

/* Returns NULL, or what is wrong with "SENSOR ORDER". */
static const char *read_request(struct control_client *k, const char *in, size_t len)
{
	const char *blank = memchr(in, ' ', len);
	size_t name = blank ? (size_t)(blank - in) : 0;

	if (name == 0 || name >= sizeof(k->sensor))
		return "asked for without a sensor and an order";
	if (len - name - 1 >= sizeof(k->text))
		return "the order is too long";
	for (size_t i = 0; i < len; i++)
		if (in[i] < ' ' || in[i] > '~')
			return "the order is not printable ASCII";
	memcpy(k->sensor, in, name);
	k->sensor[name] = 0;
	memcpy(k->text, blank + 1, len - name - 1);
	k->text[len - name - 1] = 0;
	return NULL;
}

static void client_receive(struct control_client *k, uint64_t now_ns)
{
	char in[CONTROL_REQUEST_MAX + 1];
	ssize_t n = recv(k->fd, in, sizeof(in), MSG_DONTWAIT);
	const char *wrong;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* Who has asked has nothing more to say: it has left. */
	if (n <= 0 || k->has_asked) {
		client_close(k);
		return;
	}
	wrong = n > CONTROL_REQUEST_MAX ? "the order is too long" : read_request(k, in, n);
	if (wrong) {
		reply(k, CONTROL_FAILED, wrong);
		return;
	}
	k->has_asked = true;
	k->due_ns = now_ns;
}

void control_serve(struct control *c, uint64_t now_ns)
{
	struct epoll_event events[CONTROL_CLIENTS + 1];
	int n = c->epoll < 0 ? 0 : epoll_wait(c->epoll, events, CONTROL_CLIENTS + 1, 0);

	for (int i = 0; i < n; i++) {
		uint32_t which = events[i].data.u32;

		if (which == LISTENER)
			take_client(c, now_ns);
		else if (c->clients[which].fd >= 0)
			client_receive(&c->clients[which], now_ns);
	}
}

int control_tick(struct control *c, uint64_t now_ns)
{
	uint64_t next = UINT64_MAX;

	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		struct control_client *k = &c->clients[i];

		if (k->fd < 0 || (k->has_asked && must_wait(c, k)))
			continue; /* who is waited for has a time of its own */
		if (now_ns >= k->due_ns && k->has_asked)
			order(c, k, now_ns);
		else if (now_ns >= k->due_ns)
			client_close(k);
		if (k->fd >= 0 && k->due_ns < next)
			next = k->due_ns;
	}
	if (next == UINT64_MAX)
		return -1;
	return next <= now_ns ? 0 : (int)((next - now_ns) / 1000000) + 1;
}
