// SPDX-License-Identifier: GPL-2.0
/* Orders of the collector: see commands.h. */
#include "commands.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "common/privsep.h"

int commands_init(struct commands *o, unsigned int allowed, const struct handover *h,
		  int privileged, int fd)
{
	bool is_file = h->kind == HANDOVER_FILE;

	*o = (struct commands){
		.allowed = allowed,
		.privileged = is_file ? -1 : privileged,
		.compiler = fd,
		.count = h->count,
		.snaplen = h->snaplen,
		.snaplen_max = h->snaplen > h->snaplen_max ? h->snaplen : h->snaplen_max,
	};
	for (uint32_t i = 0; i < h->count; i++)
		o->linktypes[i] = h->interfaces[i].linktype;
	if (!allowed)
		return 0;
	o->request = calloc(1, sizeof(*o->request)); /* unwritten pages take no memory */
	o->compiled = calloc(1, sizeof(*o->compiled));
	return o->request && o->compiled ? 0 : -ENOMEM;
}

void commands_free(struct commands *o)
{
	if (o->compiler >= 0)
		close(o->compiler);
	free(o->request);
	free(o->compiled);
	o->request = NULL;
	o->compiled = NULL;
	o->compiler = -1;
}

/* ---- the end of an order --------------------------------------------------------------------- */

static bool answer(struct commands *o, uint8_t status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool answer(struct commands *o, uint8_t status, const char *format, ...)
{
	va_list args;

	o->state = COMMANDS_IDLE;
	o->answer.number = o->order.number;
	o->answer.status = status;
	va_start(args, format);
	vsnprintf(o->answer.text, sizeof(o->answer.text), format, args);
	va_end(args);
	log_info("order '%.200s': %s", o->order.text, o->answer.text);
	return true;
}

/* One interface refused. Earlier ones may have accepted. */
static bool fail(struct commands *o, const char *why)
{
	const char *name = o->names && o->count > 1 ? o->names[o->interface].name : "";
	bool some = o->interface > 0 && o->state != COMMANDS_TRYING;

	return answer(o, ANSWER_FAILED, "%s%s%.400s%s", name, *name ? ": " : "", why,
		      some ? "; the interfaces before it have it" : "");
}

/* ---- filter ---------------------------------------------------------------------------------- */

static const char *expression(const struct commands *o)
{
	struct order_setting s = { .filter = "" };
	const char *why;

	order_parse(&s, o->order.text, &why); /* it was checked on arrival */
	return s.filter;
}

static bool filter_set(struct commands *o)
{
	o->state = COMMANDS_SETTING;
	o->request->kind = WIRE_ORDER_FILTER;
	o->request->interface = o->interface;
	o->request->linktype = o->linktypes[o->interface];
	snprintf(o->request->filter.text, sizeof(o->request->filter.text), "%s", expression(o));
	if (privsep_send(o->privileged, o->request, sizeof(*o->request), NULL, 0))
		return fail(o, "the privileged process cannot be asked");
	return false;
}

/* Does the next step for interface o->interface. */
static bool filter_step(struct commands *o)
{
	if (o->state == COMMANDS_TRYING && o->interface == o->count) {
		o->state = COMMANDS_COMPILING;
		o->interface = 0;
	}
	if (o->interface == o->count)
		return answer(o, ANSWER_DONE, *expression(o) ? "filter '%.300s'" : "no filter%s",
			      expression(o));
	if (!*expression(o)) {
		o->request->filter.len = 0;
		return filter_set(o);
	}
	if (compile_filter_ask(o->compiler, expression(o), o->linktypes[o->interface]))
		return fail(o, "the process that compiles filters has ended");
	return false;
}

bool commands_compiled(struct commands *o)
{
	int err = compile_filter_answer(o->compiler, o->compiled);
	bool waiting = o->state == COMMANDS_TRYING || o->state == COMMANDS_COMPILING;

	if (err == -EAGAIN)
		return false;
	if (err) {
		close(o->compiler);
		o->compiler = -1;
		return waiting && fail(o, "the process that compiles filters has ended");
	}
	if (!waiting)
		return false;
	if (o->compiled->error)
		return fail(o, o->compiled->why);
	if (o->state == COMMANDS_TRYING) {
		o->interface++;
		return filter_step(o);
	}
	o->request->filter = o->compiled->filter;
	return filter_set(o);
}

static bool filter_take(struct commands *o)
{
	if (o->privileged < 0)
		return answer(o, ANSWER_FAILED, "what is read from a file has its filter for good");
	if (o->compiler < 0 && *expression(o))
		return answer(o, ANSWER_FAILED, "%s", compile_filter_none);
	o->state = *expression(o) ? COMMANDS_TRYING : COMMANDS_COMPILING;
	o->interface = 0;
	return filter_step(o);
}

/* ---- snaplen --------------------------------------------------------------------------------- */

static bool snaplen_done(struct commands *o, uint32_t snaplen)
{
	o->snaplen = snaplen;
	if (o->source && o->source->ops->snaplen)
		o->source->ops->snaplen(o->source, snaplen);
	return answer(o, ANSWER_DONE, "snaplen %u", snaplen);
}

static bool snaplen_take(struct commands *o, uint32_t snaplen)
{
	if (snaplen < SALUKI_SNAPLEN_MIN || snaplen > o->snaplen_max)
		return answer(o, ANSWER_FAILED,
			      "the snaplen must be from %d to %u, for which there is memory",
			      SALUKI_SNAPLEN_MIN, o->snaplen_max);
	if (o->privileged < 0)
		return snaplen_done(o, snaplen);
	o->state = COMMANDS_SETTING;
	o->request->kind = WIRE_ORDER_SNAPLEN;
	o->request->snaplen = snaplen;
	if (privsep_send(o->privileged, o->request, sizeof(*o->request), NULL, 0))
		return answer(o, ANSWER_FAILED, "the privileged process cannot be asked");
	return false;
}

bool commands_result(struct commands *o, const struct order *result)
{
	if (o->state != COMMANDS_SETTING)
		return false;
	if (o->request->kind == WIRE_ORDER_SNAPLEN)
		return result->error ? answer(o, ANSWER_FAILED, "%.400s", result->why)
				     : snaplen_done(o, o->request->snaplen);
	if (result->error)
		return fail(o, result->why);
	o->interface++;
	o->state = COMMANDS_COMPILING;
	return filter_step(o);
}

/* ---- channels -------------------------------------------------------------------------------- */

static bool channels_end(struct commands *o, int err)
{
	if (err == -EINPROGRESS)
		return false;
	return answer(o, err ? ANSWER_FAILED : ANSWER_DONE, "%s%s%s", o->radios.said,
		      err || !*o->radios.said ? "" : "; the others: ", err ? "" : o->order.text);
}

bool commands_sampled(struct commands *o)
{
	return o->state == COMMANDS_SAMPLING && channels_end(o, o->radios.sampled(o->radios.arg));
}

static bool channels_take(struct commands *o, const struct order_channels *c)
{
	if (!o->radios.sample)
		return answer(o, ANSWER_FAILED, "no interface here is an 802.11 monitor interface");
	o->state = COMMANDS_SAMPLING;
	*o->radios.said = 0;
	return channels_end(o, o->radios.sample(o->radios.arg, c));
}

/* ---- keys ------------------------------------------------------------------------------------ */

static bool keys_take(struct commands *o, const struct order_keys *k)
{
	char said[128] = "not allowed: this sensor runs without --collector-keys";
	int err;

	if (!o->keys.set)
		return answer(o, ANSWER_NOT_ALLOWED, "%s", said);
	err = o->keys.set(o->keys.arg, k, said, sizeof(said));
	return answer(o, err ? ANSWER_FAILED : ANSWER_DONE, "%s", said);
}

/* ---- an order -------------------------------------------------------------------------------- */

static bool begin(struct commands *o)
{
	struct order_setting s;
	const char *why;

	if (order_parse(&s, o->order.text, &why))
		return answer(o, ANSWER_UNKNOWN, "not understood: %s", why);
	if (s.kind == WIRE_ORDER_KEYS)
		return keys_take(o, &s.keys);
	if (!(o->allowed & 1u << s.kind))
		return answer(o, ANSWER_NOT_ALLOWED,
			      "not allowed: this sensor runs without --allow-control %s",
			      order_kind_name(s.kind));
	if (s.kind == WIRE_ORDER_CHANNELS)
		return channels_take(o, &s.channels);
	return s.kind == WIRE_ORDER_SNAPLEN ? snaplen_take(o, s.snaplen) : filter_take(o);
}

/* Only the last answer is kept. */
static bool is_stale(const struct commands *o, unsigned int peer, uint64_t number)
{
	return number < o->highest[peer] || (number == o->highest[peer] && peer != o->peer);
}

/* Limits the rate of orders: each is logged, and some start a process. A malicious collector could
 * send many. */
static bool is_too_soon(struct commands *o)
{
	uint64_t now = monotonic_ns(), least = COMMANDS_AT_ONCE * COMMANDS_APART_NS;

	if (now > least && o->paced_ns < now - least)
		o->paced_ns = now - least;
	if (o->paced_ns + COMMANDS_APART_NS > now)
		return true;
	o->paced_ns += COMMANDS_APART_NS;
	return false;
}

bool commands_take(struct commands *o, unsigned int peer, const struct order_message *m,
		   struct answer_message *out)
{
	bool now = true;

	if (o->state != COMMANDS_IDLE)
		return false; /* it is repeated */
	if (!m->number || is_stale(o, peer, m->number)) {
		*out = (struct answer_message){ .number = m->number, .status = ANSWER_STALE };
		snprintf(out->text, sizeof(out->text), "stale: a later order was taken already");
		return true;
	}
	if (m->number > o->highest[peer]) {
		if (is_too_soon(o))
			return false; /* it is repeated */
		o->highest[peer] = m->number;
		o->peer = peer;
		o->order = *m;
		now = begin(o);
	}
	*out = o->answer;
	return now;
}
