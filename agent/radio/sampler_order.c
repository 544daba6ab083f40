// SPDX-License-Identifier: GPL-2.0
/*
 * Sampler, orders: carries out the collector's orders. In: a list of channels with a share of a
 * grid, or a channel for a limited time. Out: the radios' plans. Always holds: a list that one
 * radio cannot use is given to no radio.
 */
#include "sampler.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/monotonic.h"
#include "sampler_parts.h"

static void focus(struct sampler *s, unsigned int i, const struct order_channels *c,
		  uint64_t now_ns)
{
	struct sampler_radio *r = s->radios[i];

	r->focus = c->channel;
	r->focus_ns = now_ns + c->ms * 1000000ULL;
	if (r->state == SAMPLER_DWELLS || r->state == SAMPLER_STAYS)
		sampler_go_on(s, i, now_ns);
}

static int parse(struct sampler *s, unsigned int i, struct plan *p, const struct order_channels *c)
{
	const struct plan_asked *asked = &s->radios[i]->asked;
	const char *list = c->list_len ? c->list : asked->list;

	memset(p, 0, offsetof(struct plan, entries));
	return list ? plan_parse(p, asked, list, c->list_len ?: strlen(list), s->said) : 0;
}

/* Radio n of R, on member J of K, becomes member n K + J of R K. If all sensors have R radios, each
 * radio has its own share, and one sensor's radios are as far apart as possible. */
static void set_list(struct sampler *s, unsigned int i, const struct order_channels *c, uint32_t n,
		     uint64_t now_ns)
{
	struct sampler_radio *r = s->radios[i];

	parse(s, i, &r->plan, c);
	r->plan.member = n * c->members + c->member;
	r->plan.members = s->sampled * c->members;
	if (c->members)
		r->plan.proportional = false;
	r->ordered = c->list_len;
	r->fresh = true;
	r->failures = 0; /* try all its channels */
	/* An open request is finished first. */
	if (r->state != SAMPLER_TUNING)
		sampler_start_plan(s, i, now_ns);
}

int sampler_order(void *arg, const struct order_channels *c)
{
	struct sampler *s = arg;
	uint64_t now_ns = monotonic_ns();
	uint32_t n = 0;
	struct plan p;

	/* On all radios, or on none. */
	for (unsigned int i = 0; !c->focus && i < s->count; i++)
		if (s->radios[i] && parse(s, i, &p, c))
			return -EINVAL;
	s->focus = c->focus;
	s->took = false;
	for (unsigned int i = 0; i < s->count; i++) {
		if (!s->radios[i])
			continue;
		s->awaited |= 1u << i;
		if (c->focus)
			focus(s, i, c, now_ns);
		else
			set_list(s, i, c, n++, now_ns);
		sampler_settle(s, i, NULL);
	}
	return s->awaited ? -EINPROGRESS : 0;
}

void sampler_settle(struct sampler *s, unsigned int i, const char *why)
{
	const struct sampler_radio *r = s->radios[i];
	size_t len;

	if (!(s->awaited >> i & 1) ||
	    (!why && (r->state == SAMPLER_TUNING || r->state == SAMPLER_ASKING)))
		return;
	s->awaited ^= 1u << i;
	s->took |= !why;
	if (!why)
		return;
	len = strlen(s->said);
	snprintf(s->said + len, sizeof(s->said) - len, "%s%s: %s", len ? "; " : "",
		 s->meets.info->interfaces[i].name, why);
}

int sampler_ordered(void *arg)
{
	static const struct order_channels none;
	struct sampler *s = arg;

	if (s->awaited)
		return -EINPROGRESS;
	if (s->took)
		return 0;
	if (!s->focus)
		sampler_order(s, &none);
	s->awaited = 0;
	return -EIO;
}
