// SPDX-License-Identifier: GPL-2.0
/* Commands: see commands.h. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/network/session_send.h"
#include "common/monotonic.h"

void commands_init(struct commands *d, struct network *o)
{
	*d = (struct commands){ .network = o, .next_ns = UINT64_MAX };
	d->end = &d->first;
	o->answered = commands_answered;
	o->answered_user = d;
}

/* Ends an order. It stays in the list until sweep(), as a loop over the list may be running. */
static void end(struct commands *d, struct commands_order *x)
{
	x->done = NULL;
	if (x->sensor->order == x)
		x->sensor->order = NULL;
	d->next_ns = 0;
}

static void finish(struct commands *d, struct commands_order *x, int status, const char *text)
{
	commands_done *done = x->done;

	end(d, x);
	done(x->user, x->sensor, status, text);
}

static void sweep(struct commands *d)
{
	struct commands_order **link = &d->first;

	while (*link) {
		struct commands_order *x = *link;

		if (x->done) {
			link = &x->next;
			continue;
		}
		*link = x->next;
		free(x);
	}
	d->end = link;
}

void commands_free(struct commands *d)
{
	for (struct commands_order *x = d->first; x; x = x->next)
		end(d, x);
	if (d->end)
		sweep(d);
}

int commands_add(struct commands *d, struct sensor *s, const char *text, uint64_t until_ns,
		 commands_done *done, void *user)
{
	size_t size = strlen(text) + 1;
	struct commands_order *x = malloc(sizeof(*x) + size);

	if (!x)
		return -ENOMEM;
	*x = (struct commands_order){
		.sensor = s, .done = done, .user = user, .until_ns = until_ns
	};
	memcpy(x->text, text, size);
	*d->end = x;
	d->end = &x->next;
	d->next_ns = 0;
	return 0;
}

void commands_cancel(struct commands *d, const void *user)
{
	for (struct commands_order *x = d->first; x; x = x->next)
		if (x->done && x->user == user)
			end(d, x);
}

/* Numbers rise, also across restarts, as they follow protocol time. */
static uint64_t next_number(struct commands *d)
{
	uint64_t now = handshake_time(&d->network->handshake);

	d->number = now > d->number ? now : d->number + 1;
	return d->number;
}

/* Returns the reason why the order cannot be sent at all. Returns NULL if it was sent, or will be
 * tried again. */
static const char *send_order(struct commands *d, struct commands_order *x, uint64_t now_ns)
{
	uint64_t number = x->number ?: next_number(d);
	uint8_t message[WIRE_ORDER_MESSAGE_MAX];
	int err;

	if (!x->sensor->listed)
		return "no such sensor in the --sensors file";
	err = session_send(d->network, x->sensor, message, order_write(message, number, x->text));
	if (err == -ENOTCONN)
		return "has no session with this collector now";
	if (err == -EOPNOTSUPP)
		return "exports one way (--one-way), it hears no orders";
	if (!err)
		x->number = number;
	x->due_ns = now_ns + (err ? COMMANDS_AGAIN_NS : COMMANDS_REPEAT_NS);
	return NULL;
}

static void tick_one(struct commands *d, struct commands_order *x, uint64_t now_ns)
{
	const char *why = NULL;
	char text[128];

	if (x->until_ns && now_ns >= x->until_ns) {
		finish(d, x, x->number ? COMMANDS_GIVEN_UP : COMMANDS_UNSENT,
		       x->number	       ? "no answer; it may have been carried out"
		       : x->sensor->order == x ? "not sent: it was not heard meanwhile"
					       : "not sent: another order is under way");
		return;
	}
	if (x->until_ns && x->until_ns < d->next_ns)
		d->next_ns = x->until_ns;
	if (x->sensor->order && x->sensor->order != x)
		return; /* the sensor's current order has its own time */
	x->sensor->order = x;
	if (now_ns >= x->due_ns)
		why = send_order(d, x, now_ns);
	if (why) {
		snprintf(text, sizeof(text), "%s: %s", x->sensor->name, why);
		finish(d, x, COMMANDS_UNHEARD, text);
	} else if (x->due_ns < d->next_ns) {
		d->next_ns = x->due_ns;
	}
}

int commands_tick(struct commands *d, uint64_t now_ns)
{
	if (now_ns >= d->next_ns) {
		d->next_ns = UINT64_MAX;
		for (struct commands_order *x = d->first; x; x = x->next)
			if (x->done)
				tick_one(d, x, now_ns);
		sweep(d);
	}
	return monotonic_timeout(d->next_ns, now_ns);
}

void commands_answered(void *user, struct sensor *s, uint64_t number, uint8_t status,
		       const uint8_t *text, size_t len)
{
	struct commands *d = user;
	struct answer_message a;
	uint8_t message[ANSWER_MESSAGE_MAX];

	if (len > ANSWER_TEXT_MAX || !number || !s->order || s->order->number != number)
		return;
	/* answer_read() checks the text. */
	memcpy(message + 10, text, len);
	message[0] = MESSAGE_ANSWER;
	store_be(message + 1, number, 8);
	message[9] = status;
	if (answer_read(&a, message, 10 + len) == 0)
		finish(d, s->order, status, a.text);
}
