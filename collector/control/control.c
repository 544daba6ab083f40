// SPDX-License-Identifier: GPL-2.0
/* Control: see control.h. */
#include "control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "common/suggest.h"
#include "groups.h"
#include "wire/bytes.h"

#define LISTENER CONTROL_CLIENTS /* in epoll's data, after the clients */

int control_init(struct control *c, int listener, struct commands *d, struct sensors *list,
		 struct groups *groups)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = LISTENER };

	*c = (struct control){
		.listener = listener, .epoll = -1, .commands = d, .sensors = list, .groups = groups
	};
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		c->clients[i].fd = -1;
	if (listener < 0)
		return 0;
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll >= 0 && epoll_ctl(c->epoll, EPOLL_CTL_ADD, listener, &e) == 0)
		return 0;
	log_line("cannot wait for orders: %s", strerror(errno));
	return -errno;
}

static void client_close(struct control_client *k)
{
	if (k->fd >= 0)
		close(k->fd); /* this removes it from epoll */
	if (k->has_asked)
		commands_cancel(k->control->commands, k);
	free(k->waiting);
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

/* ---- replies --------------------------------------------------------------------------------- */

static bool send_packet(struct control_client *k, const void *out, size_t len)
{
	return send(k->fd, out, len, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno != EAGAIN;
}

/* Sets whether epoll reports room in the client's socket. */
static void watch(struct control_client *k, bool room)
{
	struct epoll_event e = {
		.events = EPOLLIN | (room ? EPOLLOUT : 0),
		.data.u32 = k - k->control->clients,
	};

	epoll_ctl(k->control->epoll, EPOLL_CTL_MOD, k->fd, &e);
}

/* Makes room for `len` more bytes. Returns false if all would exceed `max`, or without memory. */
static bool make_room(struct control_client *k, size_t len, size_t max)
{
	size_t room = k->waiting_room ?: 4096;
	uint8_t *more;

	if (k->waiting_at) { /* drop the sent bytes */
		k->waiting_len -= k->waiting_at;
		memmove(k->waiting, k->waiting + k->waiting_at, k->waiting_len);
		k->waiting_at = 0;
	}
	if (k->waiting_len + len > max)
		return false;
	while (room < k->waiting_len + len)
		room *= 2;
	if (room == k->waiting_room)
		return true;
	more = realloc(k->waiting, room);
	if (!more)
		return false;
	k->waiting = more;
	k->waiting_room = room;
	return true;
}

/* Sends a reply, or queues it if the socket is full. Over the limit, replies are left out, except
 * the last one. */
static void send_reply(struct control_client *k, enum control_reply what, const char *text)
{
	bool is_last = what == CONTROL_DONE || what == CONTROL_FAILED;
	size_t max = CONTROL_WAITING_MAX + (is_last ? 2 + CONTROL_REPLY_MAX : 0);
	char out[CONTROL_REPLY_MAX];
	int len = snprintf(out, sizeof(out), "%c %s", what, text);

	if (len >= (int)sizeof(out))
		len = sizeof(out) - 1;
	if (!k->waiting_len && (send_packet(k, out, len) || !k->control))
		return;
	if (!make_room(k, 2 + len, max)) {
		k->left_out++;
		return;
	}
	if (!k->waiting_len)
		watch(k, true);
	store_be(k->waiting + k->waiting_len, len, 2);
	memcpy(k->waiting + k->waiting_len + 2, out, len);
	k->waiting_len += 2 + len;
}

/* Sends the last reply. */
static void reply(struct control_client *k, enum control_reply what, const char *text)
{
	send_reply(k, what, text);
	k->has_ended = true;
	k->due_ns = 0;
	if (!k->waiting_len)
		client_close(k);
}

/* Sends queued replies, as the socket has room again. */
static void client_send(struct control_client *k)
{
	while (k->waiting_at < k->waiting_len) {
		size_t len = load_be(k->waiting + k->waiting_at, 2);

		if (!send_packet(k, k->waiting + k->waiting_at + 2, len))
			return;
		k->waiting_at += 2 + len;
		k->due_ns = 0;
	}
	k->waiting_at = k->waiting_len = 0;
	watch(k, false);
	if (k->has_ended)
		client_close(k);
}

/* ---- orders ---------------------------------------------------------------------------------- */

static void answered(void *user, struct sensor *s, int status, const char *text)
{
	struct control_client *k = user;

	if (k->focus_ms)
		groups_held(s, false, k->focus_ms, status, monotonic_ns());
	reply(k, status == ANSWER_DONE ? CONTROL_DONE : CONTROL_FAILED, text);
}

/* A sensor of a group has answered, or its order has ended without an answer. */
static void one_answered(void *user, struct sensor *s, int status, const char *text)
{
	struct control_client *k = user;
	bool done = status == ANSWER_DONE;
	char out[CONTROL_REPLY_MAX], left_out[64] = "";

	if (k->focus_ms)
		groups_held(s, true, k->focus_ms, status, monotonic_ns());
	snprintf(out, sizeof(out), "%s%s%s", status == COMMANDS_UNHEARD ? "" : s->name,
		 status == COMMANDS_UNHEARD ? "" : ": ", text);
	k->done += done;
	send_reply(k, done ? CONTROL_ONE_DONE : CONTROL_ONE_FAILED, out);
	if (++k->answered < k->asked)
		return;
	if (k->left_out)
		snprintf(left_out, sizeof(left_out), "; %u answers were not read in time",
			 k->left_out);
	snprintf(out, sizeof(out), "%u of %u sensors have done it%s", k->done, k->asked, left_out);
	reply(k, k->done == k->asked ? CONTROL_DONE : CONTROL_FAILED, out);
}

static const char no_group[] = "no such group in the --sensors file";
static const char no_sensor[] = "no such sensor in the --sensors file";

/* Returns the name most like the given one, or NULL. */
static const char *similar_name(const struct control *c, const char *given, bool of_group)
{
	struct suggest s;

	suggest_begin(&s, given, strlen(given));
	for (unsigned int i = 0; of_group && i < c->groups->count; i++)
		suggest_offer(&s, c->groups->list[i]->name);
	for (unsigned int i = 0; !of_group && i < c->sensors->count; i++)
		if (c->sensors->list[i]->listed)
			suggest_offer(&s, c->sensors->list[i]->name);
	return s.word;
}

/* Returns NULL, or the reason why the order cannot be given. */
static const char *order_group(struct control *c, struct control_client *k, const char *name,
			       const char *text, uint64_t now_ns)
{
	const struct group_order order = { text, k->focus_ms, now_ns + CONTROL_GROUP_NS,
					   one_answered, k };
	int n = groups_order(c->groups, name, &order, now_ns);

	if (n > 0)
		k->asked = n;
	return n > 0	      ? NULL
	       : n == -ENOENT ? no_group
	       : n == -ENOMEM ? "out of memory"
			      : "none of this group's sensors is present";
}

static const char *order_sensor(struct control *c, struct control_client *k, const char *name,
				const char *text, uint64_t now_ns)
{
	struct sensor *s = sensors_by_name(c->sensors, name);

	if (!s)
		return no_sensor;
	k->asked = 1;
	if (commands_add(c->commands, s, text, 0, answered, k))
		return "out of memory";
	if (k->focus_ms)
		groups_hold(s, false, k->focus_ms, now_ns);
	return NULL;
}

/* Returns an order's focus time in ms; 0 for other orders, and for those that a sensor refuses. */
static uint32_t focus_ms(const char *text)
{
	struct order_setting s;
	const char *why;

	if (order_parse(&s, text, &why) || s.kind != WIRE_ORDER_CHANNELS || !s.channels.focus)
		return 0;
	return s.channels.ms;
}

static void order(struct control_client *k, const char *name, const char *text, uint64_t now_ns)
{
	size_t prefix = sizeof(CONTROL_GROUP) - 1;
	char out[2 * CONTROL_NAME_MAX + 100];
	const char *why, *like = NULL;

	k->has_asked = true;
	k->focus_ms = focus_ms(text);
	if (!strncmp(name, CONTROL_GROUP, prefix))
		why = order_group(k->control, k, name += prefix, text, now_ns);
	else
		why = order_sensor(k->control, k, name, text, now_ns);
	if (!why)
		return;
	if (why == no_group || why == no_sensor)
		like = similar_name(k->control, name, why == no_group);
	snprintf(out, sizeof(out), "%.31s: %s%s%s%s", name, why, like ? "; did you mean " : "",
		 like ?: "", like ? "?" : "");
	reply(k, CONTROL_FAILED, out);
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
			.control = c,
			.fd = fd,
			.due_ns = now_ns + CONTROL_SILENCE_NS,
		};
		return;
	}
	/* Unread data would reach the client as an error before the reply. */
	recv(fd, request, sizeof(request), MSG_DONTWAIT);
	reply(&late, CONTROL_FAILED, "too many orders are waited for; try again");
}

/* Splits "SENSOR ORDER", which ends with a 0 byte. Returns NULL, or the mistake. */
static const char *read_request(char *in, size_t len, char **text)
{
	char *blank = memchr(in, ' ', len);
	size_t name = blank ? (size_t)(blank - in) : 0;
	bool of_group = !strncmp(in, CONTROL_GROUP, sizeof(CONTROL_GROUP) - 1);

	if (name == 0 || name >= (of_group ? CONTROL_NAME_MAX : SENSOR_NAME_MAX))
		return "the request has no sensor or no order";
	if (len - name - 1 > WIRE_ORDER_TEXT_MAX)
		return "the order is too long";
	for (size_t i = 0; i < len; i++)
		if (in[i] < ' ' || in[i] > '~')
			return "the order is not printable ASCII";
	*blank = 0;
	*text = blank + 1;
	return NULL;
}

static void client_receive(struct control_client *k, uint64_t now_ns)
{
	char in[CONTROL_REQUEST_MAX + 2], *text;
	ssize_t n = recv(k->fd, in, sizeof(in) - 1, MSG_DONTWAIT);
	const char *wrong;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* A client sends one request only: any later event means that it has left. */
	if (n <= 0 || k->has_asked) {
		client_close(k);
		return;
	}
	in[n] = 0;
	wrong = n > (ssize_t)CONTROL_REQUEST_MAX ? "the order is too long"
						 : read_request(in, n, &text);
	if (wrong)
		reply(k, CONTROL_FAILED, wrong);
	else
		order(k, in, text, now_ns);
}

void control_serve(struct control *c, uint64_t now_ns)
{
	struct epoll_event events[CONTROL_CLIENTS + 1];
	int n = c->epoll < 0 ? 0 : epoll_wait(c->epoll, events, CONTROL_CLIENTS + 1, 0);

	for (int i = 0; i < n; i++) {
		uint32_t which = events[i].data.u32;

		if (which == LISTENER)
			take_client(c, now_ns);
		else if (c->clients[which].fd >= 0 && events[i].events & ~EPOLLOUT)
			client_receive(&c->clients[which], now_ns);
		else if (c->clients[which].fd >= 0)
			client_send(&c->clients[which]);
	}
}

int control_tick(struct control *c, uint64_t now_ns)
{
	uint64_t next = UINT64_MAX;

	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		struct control_client *k = &c->clients[i];

		if (k->fd < 0 || (k->has_asked && !k->has_ended))
			continue;
		if (!k->due_ns)
			k->due_ns = now_ns + CONTROL_SILENCE_NS;
		if (now_ns >= k->due_ns)
			client_close(k);
		else if (k->due_ns < next)
			next = k->due_ns;
	}
	return monotonic_timeout(next, now_ns);
}
