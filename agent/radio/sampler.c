// SPDX-License-Identifier: GPL-2.0
/* Sampler: see sampler.h. sampler_tell.c reports dwells, sampler_order.c carries out the
 * collector's orders. */
#include "sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saluki/linktype.h>

#include "common/log.h"
#include "common/monotonic.h"
#include "common/privsep.h"
#include "radio.h"
#include "sampler_parts.h"

#define FOREVER UINT64_MAX
#define WHY_LEN 200		 /* why a channel cannot be set */
#define PART_NS 5000000000ULL	 /* longer dwells are reported in parts */
#define REST_MIN_NS 250000000ULL /* pause between tries if every channel fails, */
#define REST_MAX_NS 2000000000ULL

/* ---- start and end --------------------------------------------------------------------------- */

static struct sampler_radio *radio_new(const struct plan_asked *a,
				       const struct handover_interface *h)
{
	struct sampler_radio *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->asked = *a;
	r->now = h->channel;
	return r;
}

static uint64_t realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

static bool is_sampled(const struct capture_options *o, const struct handover *h, uint32_t i)
{
	const struct handover_interface *f = &h->interfaces[i];

	return h->kind != HANDOVER_FILE && i < h->count &&
	       (o->plans[f->given].list || (o->steered && linktype_is_80211(f->linktype)));
}

bool sampler_is_needed(const struct capture_options *o, const struct handover *h)
{
	uint32_t i = 0;

	while (i < h->count && !is_sampled(o, h, i))
		i++;
	return i < h->count;
}

struct sampler *sampler_new(const struct capture_options *o, const struct handover *h,
			    const struct sampler_meets *meets, int *err)
{
	struct sampler *s = NULL;

	for (uint32_t i = 0; i < h->count; i++) {
		const struct handover_interface *f = &h->interfaces[i];
		const struct plan_asked *a = &o->plans[f->given];

		if (!is_sampled(o, h, i))
			continue;
		s = s ?: calloc(1, sizeof(*s));
		if (!s || dwells_add(&s->dwells, i) || !(s->radios[i] = radio_new(a, f))) {
			sampler_free(s);
			*err = -ENOMEM;
			return NULL;
		}
		s->meets = *meets;
		s->deaf_ms = o->deaf_after_s * 1000;
		s->count = h->count;
		s->sampled++;
		s->realtime_ns = realtime_ns;
	}
	return s;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	dwells_free(&s->dwells);
	for (unsigned int i = 0; i < INTERFACES_MAX; i++)
		free(s->radios[i]);
	free(s);
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool ask(struct sampler *s, unsigned int i, uint32_t kind)
{
	/* Copies all except the filter, which is as large as the rest. */
	union {
		char bytes[REQUEST_HEAD_LEN];
		struct {
			uint32_t kind, interface;
			int32_t linktype;
			uint32_t snaplen;
			struct radio_channel channel;
		} head;
	} m = { .head = { .kind = kind, .interface = i, .channel = s->radios[i]->target } };

	_Static_assert(offsetof(struct ordered, channel) == 16, "as above");
	return privsep_send(s->meets.privileged, m.bytes, sizeof(m.bytes), NULL, 0) == 0;
}

static void tune(struct sampler *s, unsigned int i, const struct radio_channel *to, uint64_t now_ns)
{
	struct sampler_radio *r = s->radios[i];

	r->target = *to;
	r->asked_ns = now_ns;
	r->checks = false;
	dwells_begin(&s->dwells, i, now_ns);
	r->seen_asked = sampler_seen(s, i);
	r->state = ask(s, i, REQUEST_TUNE) ? SAMPLER_TUNING : SAMPLER_STAYS;
}

/* Others may have tuned it. Then the frames since are not of this channel. */
static void check(struct sampler *s, unsigned int i, uint64_t now_ns)
{
	struct sampler_radio *r = s->radios[i];

	r->target = r->now;
	r->asked_ns = now_ns;
	r->checks = true;
	r->seen_asked = sampler_seen(s, i);
	r->state = ask(s, i, REQUEST_TUNE) ? SAMPLER_TUNING : SAMPLER_STAYS;
}

/* ---- what comes next ------------------------------------------------------------------------- */

/* Returns the collector's clock, as estimated. */
static uint64_t collector_ns(const struct sampler *s)
{
	return s->realtime_ns() + (s->meets.info->behind_us - s->meets.info->ahead_us) * 1000;
}

static bool is_focused(const struct sampler_radio *r, uint64_t now_ns)
{
	return r->focus.mhz && now_ns < r->focus_ns;
}

/* Returns the plan's current channel, and sets its end. */
static const struct radio_channel *next(const struct sampler *s, struct sampler_radio *r,
					uint64_t now_ns, uint64_t *ends_ns)
{
	if (r->plan.members) {
		uint64_t there_ns = collector_ns(s), slot_ends_ns;

		plan_grid(&r->plan, there_ns, &slot_ends_ns);
		*ends_ns = now_ns + (slot_ends_ns - there_ns);
	} else {
		if (!r->fresh)
			plan_step(&r->plan);
		*ends_ns = now_ns + r->plan.entries[r->plan.at].dwell_us * 1000ULL;
	}
	r->fresh = false;
	if (r->plan.count == 1)
		*ends_ns = FOREVER;
	return &r->plan.entries[r->plan.at].channel;
}

void sampler_go_on(struct sampler *s, unsigned int i, uint64_t now_ns)
{
	struct sampler_radio *r = s->radios[i];
	const struct radio_channel *to = &r->focus;

	if (!is_focused(r, now_ns)) {
		r->focus.mhz = 0;
		to = r->plan.count ? next(s, r, now_ns, &r->ends_ns)
		     : r->home.mhz ? &r->home
				   : &r->now;
		if (!r->plan.count)
			r->ends_ns = FOREVER;
	} else {
		r->ends_ns = r->focus_ns;
	}
	if (!channel_is(to, &r->now)) {
		tune(s, i, to, now_ns);
		return;
	}
	r->failures = 0;
	r->state = r->now.mhz ? SAMPLER_DWELLS : SAMPLER_STAYS;
}

void sampler_start_plan(struct sampler *s, unsigned int i, uint64_t now_ns)
{
	struct sampler_radio *r = s->radios[i];
	int at;

	if (r->plan.all) {
		r->state = ask(s, i, REQUEST_CARD) ? SAMPLER_ASKING : SAMPLER_STAYS;
		return;
	}
	if (r->plan.proportional && r->plan.count * r->plan.floor >= 100)
		log_line("%s: %u channels of --floor %u leave nothing to --strategy proportional",
			 s->meets.info->interfaces[i].name, r->plan.count, r->plan.floor);
	plan_start(&r->plan);
	at = plan_find(&r->plan, &r->now);
	if (at > 0 && !r->ordered)
		r->plan.at = at; /* where the tap has tuned it: earlier entries failed */
	r->fresh = true;
	sampler_go_on(s, i, now_ns);
}

void sampler_start(struct sampler *s, uint64_t now_ns)
{
	char why[PLAN_WHY_LEN];

	for (unsigned int i = 0; s && i < s->count; i++) {
		struct sampler_radio *r = s->radios[i];
		const char *list = r ? r->asked.list : NULL;

		if (!r)
			continue;
		if (r->now.mhz)
			sampler_begin(s, i, now_ns);
		if (list)
			plan_parse(&r->plan, &r->asked, list, strlen(list),
				   why); /* known to be valid */
		if (list)
			sampler_start_plan(s, i, now_ns);
	}
}

/* ---- what the privileged process says -------------------------------------------------------- */

/* Whether the error has another reason than the channel. */
static bool is_hopeless(int err)
{
	return err == -ENETDOWN || err == -ENODEV || err == -EPERM;
}

/* Logs each reason once per channel, or once per interface until it is tuned again. */
static void say_failed(struct sampler *s, unsigned int i, int err, char why[WHY_LEN])
{
	struct sampler_radio *r = s->radios[i];
	int at = plan_find(&r->plan, &r->target);
	uint16_t *told = at < 0 || is_hopeless(err) ? &r->told : &r->plan.entries[at].told;
	char text[CHANNEL_TEXT_LEN];

	channel_text(text, &r->target);
	snprintf(why, WHY_LEN, "cannot set channel %s: %s", text, radio_reason(err));
	if (*told == -err)
		return;
	*told = -err;
	log_line("%s: %s", s->meets.info->interfaces[i].name, why);
}

/* The radio keeps its channel. Continues with the next entry at once. If all entries fail, or the
 * channel is not the reason, pauses first; the pause grows. */
static void failed(struct sampler *s, unsigned int i, int err, uint64_t now_ns)
{
	struct sampler_radio *r = s->radios[i];
	bool hopeless = is_hopeless(err);
	uint32_t tries = hopeless || r->plan.members ? 1 : r->plan.count ?: 1;
	bool of_focus = r->focus.mhz && channel_is(&r->target, &r->focus);
	char why[WHY_LEN];

	say_failed(s, i, err, why);
	if (of_focus)
		r->focus.mhz = 0; /* it failed */
	if (of_focus && s->focus)
		sampler_settle(s, i, why);
	if (r->fresh) { /* ordered meanwhile */
		sampler_start_plan(s, i, now_ns);
		return;
	}
	if (of_focus || is_focused(r, now_ns)) {
		sampler_go_on(s, i, now_ns);
		return;
	}
	if (++r->failures % tries) {
		sampler_go_on(s, i, now_ns);
		return;
	}
	if (hopeless || !r->plan.members || r->plan.count == 1)
		sampler_settle(s, i, why);		       /* else another slot may work */
	if (r->plan.members && r->plan.count > 1 && !hopeless) /* its slot passes */
		r->failures = 0;
	else if (r->plan.count)
		r->ends_ns = now_ns + (r->failures > 4 * tries ? REST_MAX_NS : REST_MIN_NS);
	else
		r->ends_ns = FOREVER;
	r->state = r->plan.count || r->now.mhz ? SAMPLER_DWELLS : SAMPLER_STAYS;
}

static void tuned(struct sampler *s, unsigned int i, const struct order *o)
{
	struct sampler_radio *r = s->radios[i];
	uint64_t dwell_ns = r->ends_ns - r->asked_ns, end_ns = o->tuned.end_ns;

	if (r->state != SAMPLER_TUNING)
		return;
	if (!r->home.mhz)
		r->home = o->tuned.was;
	if (r->checks && r->now.mhz && !o->error && !sampler_strayed(r, o))
		sampler_tell(s, i, end_ns, sampler_seen(s, i));
	else
		sampler_switched(s, i, o);
	if (o->error) {
		failed(s, i, o->error, end_ns);
		return;
	}
	r->failures = r->told = 0;
	r->state = SAMPLER_DWELLS;
	/* The switch's duration does not shorten the dwell, unless on a grid. */
	if (!r->checks && !r->plan.members && r->ends_ns != FOREVER && !is_focused(r, end_ns))
		r->ends_ns = end_ns + dwell_ns;
	/* An order came meanwhile: */
	if (r->fresh)
		sampler_start_plan(s, i, end_ns);
	else if (is_focused(r, end_ns) && !channel_is(&r->focus, &r->now))
		sampler_go_on(s, i, end_ns);
}

static void card(struct sampler *s, unsigned int i, const struct order *o, uint64_t now_ns)
{
	struct radio_channel channels[PLAN_MAX];
	struct sampler_radio *r = s->radios[i];
	const char *name = s->meets.info->interfaces[i].name;
	uint32_t n = o->error || o->card.count > PLAN_MAX ? 0 : o->card.count;
	char why[PLAN_WHY_LEN];

	if (r->state != SAMPLER_ASKING)
		return;
	if (o->error)
		log_line("%s: its channels cannot be asked for: %s", name, radio_reason(o->error));
	for (uint32_t k = 0; k < n; k++)
		channels[k] = (struct radio_channel){ o->card.mhz[k], 20, o->card.mhz[k] };
	if (plan_expand(&r->plan, channels, n, why)) {
		log_line("%s: no channels are sampled: %s", name, why);
		r->plan.count = 0;
		if (!s->focus)
			sampler_settle(s, i, why);
		sampler_go_on(s, i, now_ns);
		return;
	}
	sampler_start_plan(s, i, now_ns);
}

/* It went down or disappeared: it hears nothing until it is tuned again. */
static void lost(struct sampler *s, unsigned int i, uint64_t now_ns)
{
	struct sampler_radio *r = s->radios[i];

	if (!r->now.mhz)
		return;
	sampler_tell(s, i, now_ns, sampler_seen(s, i));
	r->now.mhz = 0;
	if (r->state == SAMPLER_TUNING)
		return; /* its result will be reported */
	dwells_begin(&s->dwells, i, now_ns);
	r->ends_ns = r->plan.count || r->focus.mhz ? now_ns + REST_MIN_NS : FOREVER;
}

/* The tap has tuned it again without a request. */
static void there_again(struct sampler *s, unsigned int i, const struct radio_channel *c,
			uint64_t now_ns)
{
	struct sampler_radio *r = s->radios[i];
	uint64_t seen = r->seen;

	if (!c->mhz || r->now.mhz || r->state == SAMPLER_TUNING)
		return;
	r->now = *c;
	dwells_settled(&s->dwells, i, now_ns);
	sampler_begin(s, i, now_ns);
	r->marked = r->seen - seen; /* while it was lost */
	if (r->state != SAMPLER_ASKING)
		sampler_go_on(s, i, now_ns);
}

void sampler_told(struct sampler *s, const struct order *o, uint64_t now_ns)
{
	unsigned int i = o->number;

	if (!s || i >= s->count || !s->radios[i])
		return;
	if (o->what == COMMAND_TUNED)
		tuned(s, i, o);
	else if (o->what == COMMAND_CARD)
		card(s, i, o, now_ns);
	else if (o->what == COMMAND_LOST || !o->interface.channel.mhz)
		lost(s, i, now_ns);
	else
		there_again(s, i, &o->interface.channel, now_ns);
	sampler_settle(s, i, NULL);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Does one interface's due work. Returns when it must be called again. */
static uint64_t tick(struct sampler *s, unsigned int i, uint64_t now_ns)
{
	struct sampler_radio *r = s->radios[i];
	uint64_t part_ns = r->now.mhz ? r->from_ns + PART_NS : FOREVER;

	if (r->state == SAMPLER_DWELLS && now_ns >= r->ends_ns) {
		sampler_go_on(s, i, now_ns);
		part_ns = r->now.mhz ? r->from_ns + PART_NS : FOREVER;
	}
	if (r->state == SAMPLER_DWELLS && now_ns >= part_ns) {
		check(s, i, now_ns);
	}
	if (r->state != SAMPLER_DWELLS)
		return FOREVER;
	return r->ends_ns < part_ns ? r->ends_ns : part_ns;
}

int sampler_tick(struct sampler *s, uint64_t now_ns)
{
	uint64_t next_ns = FOREVER;

	for (unsigned int i = 0; s && i < s->count; i++) {
		uint64_t at_ns = s->radios[i] ? tick(s, i, now_ns) : FOREVER;

		if (at_ns < next_ns)
			next_ns = at_ns;
	}
	if (next_ns == FOREVER)
		return -1;
	return next_ns <= now_ns ? 0 : (int)((next_ns - now_ns + 999999) / 1000000);
}

void sampler_end(struct sampler *s, uint64_t now_ns)
{
	for (unsigned int i = 0; s && i < s->count; i++)
		if (s->radios[i])
			sampler_last(s, i, now_ns);
	if (s && s->untold)
		log_line("%llu dwells were not told: nobody took combos; their frames are among "
			 "the marked ones",
			 (unsigned long long)s->untold);
	if (s)
		s->count = 0;
}

void sampler_view(const struct sampler *s, unsigned int i, struct sampler_view *out)
{
	const struct sampler_radio *r = s && i < s->count ? s->radios[i] : NULL;
	bool deaf;

	*out = (struct sampler_view){ 0 };
	if (!r)
		return;
	deaf = r->deaf.is;
	for (uint32_t k = 0; k < r->plan.count; k++)
		deaf |= r->plan.entries[k].deaf.is;
	out->mhz = r->now.mhz;
	out->width = r->now.width;
	out->center = r->now.center;
	out->entries = r->plan.count;
	out->how = (r->plan.proportional ? SAMPLER_PROPORTIONAL : 0) |
		   (r->ordered ? SAMPLER_ORDERED : 0) | (r->plan.members ? SAMPLER_SHARED : 0) |
		   (r->focus.mhz ? SAMPLER_FOCUSED : 0) | (deaf ? SAMPLER_DEAF : 0);
}
