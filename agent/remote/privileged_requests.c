// SPDX-License-Identifier: GPL-2.0
/* Privileged requests: see privileged_requests.h. */
#include "privileged_requests.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "common/privsep.h"
#include "wire/order.h"

static void refuse(struct order *a, int err, const char *why)
{
	a->error = err;
	snprintf(a->why, sizeof(a->why), "%s", why);
}

static bool text_is_sound(const char *text, size_t size)
{
	size_t len = strnlen(text, size);

	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return len < size;
}

static void set_filter(struct tap *t, struct ordered *r, struct order *a)
{
	struct tap_interface *f;

	if (r->interface >= t->count || !text_is_sound(r->filter.text, sizeof(r->filter.text))) {
		refuse(a, -EBADMSG, "no such interface, or no such text");
		return;
	}
	f = &t->interfaces[r->interface];
	a->number = r->interface;
	/* The filter stays code, also when a later agent adopts it. */
	r->filter.is_code = true;
	a->error = tap_replace_filter(t, r->interface, &r->filter, r->linktype, a->why,
				      sizeof(a->why));
	if (a->error)
		return;
	f->filter_is_ordered = true;
	if (r->filter.len)
		log_info("%s: filter '%.200s' from now on, by order of the collector", f->name,
			 r->filter.text);
	else
		log_info("%s: no filter from now on, by order of the collector", f->name);
}

static void set_snaplen(struct tap *t, const struct ordered *r, struct order *a)
{
	a->error = tap_replace_snaplen(t, r->snaplen, a->why, sizeof(a->why));
	if (!a->error)
		log_info("snaplen %u from now on, by order of the collector", r->snaplen);
}

/* Checks the sampler's requests. With a plan of several channels, or if the collector may send
 * plans, any channel is allowed; else only the command line's. */
static void radio_do(struct tap *t, const struct ordered *r, struct order *a)
{
	bool tunes = r->kind == REQUEST_TUNE;
	struct tap_interface *f = r->interface < t->count ? &t->interfaces[r->interface] : NULL;

	a->what = tunes ? COMMAND_TUNED : COMMAND_CARD;
	a->number = r->interface;
	a->tuned.begin_ns = a->tuned.end_ns = tunes ? monotonic_ns() : 0;
	if (!f || !f->sampled || (tunes && !channel_is_sound(&r->channel)) ||
	    (f->sampled == TAP_SAMPLED_ONE && !channel_is(&r->channel, &f->channel))) {
		a->error = -EPERM;
		return;
	}
	if (!tunes) {
		a->error = tap_card(t, r->interface, a->card.mhz, PLAN_MAX, &a->card.count);
		return;
	}
	a->error = tap_retune(t, r->interface, &r->channel, &a->tuned.was, &a->tuned.begin_ns);
	a->tuned.end_ns = monotonic_ns();
}

void privileged_requests_do(struct tap *t, unsigned int allowed, struct ordered *r,
			    struct order *answer)
{
	bool known = r->kind == WIRE_ORDER_SNAPLEN || r->kind == WIRE_ORDER_FILTER;

	if (!t || !known || !(allowed & 1u << r->kind))
		refuse(answer, -EPERM, "not allowed; see --allow-control");
	else if (r->kind == WIRE_ORDER_SNAPLEN)
		set_snaplen(t, r, answer);
	else
		set_filter(t, r, answer);
}

int privileged_requests_take(struct tap *t, unsigned int allowed, int sock, struct order *answer,
			     bool *changed)
{
	static struct ordered r;
	ssize_t n = privsep_receive(sock, &r, sizeof(r), NULL);

	*changed = false;
	if (n < 0)
		return n;
	memset(answer, 0, sizeof(*answer));
	if (n == REQUEST_HEAD_LEN && r.kind == REQUEST_STOP) {
		answer->what = SIGNAL_STOP;
		return 0;
	}
	if (t && n == REQUEST_HEAD_LEN && (r.kind == REQUEST_TUNE || r.kind == REQUEST_CARD)) {
		radio_do(t, &r, answer);
		return 0;
	}
	if (n != sizeof(r))
		return -EPROTO;
	answer->what = COMMAND_RESULT;
	privileged_requests_do(t, allowed, &r, answer);
	*changed = !answer->error && r.kind == WIRE_ORDER_FILTER;
	return 0;
}
