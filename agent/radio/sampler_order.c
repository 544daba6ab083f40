// SPDX-License-Identifier: GPL-2.0
/*
 * What the collector orders of the sampler. In: a list of channels with its share of a grid, or a
 * channel to listen to for a time. Out: the radios' plans. Always holds: a list that one radio
 * cannot have is given to none.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <saluki/monotonic.h>

#include "sampler_parts.h"

static void focus(struct sampler *s, const struct order_channels *c, uint64_t now_ns)
{
	for (unsigned int i = 0; i < s->count; i++) {
		struct sampler_radio *r = s->radios[i];

		if (!r)
			continue;
		r->focus = c->channel;
		r->focus_ns = now_ns + c->ms * 1000000ULL;
		if (r->state == SAMPLER_DWELLS || r->state == SAMPLER_STAYS)
			sampler_go_on(s, i, now_ns);
	}
}

static void set_plan(struct sampler *s, unsigned int i, const struct plan *p, bool ordered,
		     uint64_t now_ns)
{
	struct sampler_radio *r = s->radios[i];

	r->plan = *p;
	r->ordered = ordered;
	r->fresh = true;
	/* What is on its way comes to its end first. */
	if (r->state != SAMPLER_TUNING)
		sampler_start_plan(s, i, now_ns);
}

/* The list of radio `i`: NULL where there is none. Sets its bytes. */
static const char *list_of(const struct sampler *s, unsigned int i, const struct order_channels *c,
			   size_t *len)
{
	const char *list = c->list_len ? c->list : s->radios[i]->asked.list;

	*len = c->list_len ?: list ? strlen(list) : 0;
	return list;
}

/* On all radios, or on none: what one has no channels for is said of that one. */
static int check_list(const struct sampler *s, const struct order_channels *c, char *said)
{
	char why[PLAN_WHY_LEN];
	struct plan p;
	size_t len;

	for (unsigned int i = 0; i < s->count; i++) {
		const char *list = s->radios[i] ? list_of(s, i, c, &len) : NULL;

		if (list && plan_parse(&p, &s->radios[i]->asked, list, len, why)) {
			snprintf(said, ANSWER_TEXT_MAX + 1, "channels %s", why);
			return -EINVAL;
		}
	}
	return 0;
}

static int set_list(struct sampler *s, const struct order_channels *c, char *said, uint64_t now_ns)
{
	char why[PLAN_WHY_LEN];
	size_t len;
	int err = check_list(s, c, said);

	for (unsigned int i = 0; !err && i < s->count; i++) {
		const char *list = s->radios[i] ? list_of(s, i, c, &len) : NULL;
		struct plan p = { 0 };

		if (!s->radios[i])
			continue;
		if (list)
			plan_parse(&p, &s->radios[i]->asked, list, len, why);
		p.member = c->member;
		p.members = list ? c->members : 0;
		p.proportional &= !p.members;
		set_plan(s, i, &p, c->list_len, now_ns);
	}
	return err;
}

int sampler_order(void *arg, const struct order_channels *c, char said[ANSWER_TEXT_MAX + 1])
{
	struct sampler *s = arg;
	uint64_t now_ns = monotonic_ns();
	char text[CHANNEL_TEXT_LEN];

	if (c->focus) {
		focus(s, c, now_ns);
		channel_text(text, &c->channel);
		snprintf(said, ANSWER_TEXT_MAX + 1, "focus %s for %u ms", text, c->ms);
		return 0;
	}
	snprintf(said, ANSWER_TEXT_MAX + 1, "channels %.*s%s", (int)c->list_len,
		 c->list_len ? c->list : "", c->list_len ? "" : "as the command line says");
	return set_list(s, c, said, now_ns);
}
