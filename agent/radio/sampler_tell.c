// SPDX-License-Identifier: GPL-2.0
/*
 * Sampler, reports: dwells and deaf radios. In: when a radio listened where, and the hook's frames
 * at that time. Out: dwells in the ring to the capture thread. Always holds: each frame of the hook
 * is in one dwell, as heard or as marked. If a dwell does not fit in the ring, its frames count as
 * marked in the next one.
 */
#include "sampler.h"

#include <errno.h>

#include "common/log.h"
#include "sampler_parts.h"

uint64_t sampler_seen(const struct sampler *s, unsigned int i)
{
	struct saluki_counters c;

	s->meets.source->ops->counters(s->meets.source, i, &c);
	/* A filter outside the hook counts late, so the count never decreases here. */
	return (int64_t)(c.seen - s->radios[i]->seen) < 0 ? s->radios[i]->seen : c.seen;
}

static uint64_t since_1970(struct sampler_radio *r, uint64_t at_ns)
{
	clock_measure(&r->clock, at_ns);
	return clock_realtime(&r->clock, at_ns);
}

void sampler_begin(struct sampler *s, unsigned int i, uint64_t at_ns)
{
	struct sampler_radio *r = s->radios[i];

	r->seen = sampler_seen(s, i);
	r->from_ns = at_ns;
	r->from_real_ns = since_1970(r, at_ns);
	r->switch_ns = r->marked = 0;
}

static void hand_over(struct sampler *s, unsigned int i, struct dwell *d, uint64_t ended_ns)
{
	struct sampler_radio *r = s->radios[i];

	d->interface = i;
	d->marked += r->untold_frames;
	r->untold_frames = 0;
	if (dwells_push(&s->dwells, d, ended_ns))
		return;
	s->untold++;
	r->untold_frames = d->frames + d->marked;
}

/* ---- deaf ------------------------------------------------------------------------------------ */

static void say_deaf(const struct sampler *s, unsigned int i, enum silence_watch_news news)
{
	const char *name = s->meets.info->interfaces[i].name;

	if (news == SILENCE_WATCH_NOW)
		log_line("%s: heard nothing on any channel in %u s of listening: its antenna, its "
			 "driver or the channels may be wrong",
			 name, s->deaf_ms / 1000);
	else if (news == SILENCE_WATCH_NO_MORE)
		log_line("%s: hears frames again", name);
}

/* Not while no channel is heard: then the interface's report covers it. */
static void say_channels_deaf(const struct sampler *s, unsigned int i)
{
	struct sampler_radio *r = s->radios[i];
	char text[CHANNEL_TEXT_LEN];

	for (uint32_t k = 0; !r->deaf.is && r->plan.count > 1 && k < r->plan.count; k++) {
		struct plan_entry *e = &r->plan.entries[k];

		if (e->deaf.is == e->deaf.said)
			continue;
		e->deaf.said = e->deaf.is;
		channel_text(text, &e->channel);
		log_line(e->deaf.is ? "%s: channel %s: heard nothing in %u s of listening, and did "
				      "before"
				    : "%s: channel %s: hears frames again",
			 s->meets.info->interfaces[i].name, text, s->deaf_ms / 1000);
	}
}

/* Each of its channels had a dwell since the last frame. */
static bool all_silent(const struct plan *p)
{
	for (uint32_t k = 0; k < p->count; k++)
		if (!p->entries[k].deaf.silent_ms)
			return false;
	return true;
}

/* Counts frames of the current channel. */
static void listened(struct sampler *s, unsigned int i, uint64_t frames, uint64_t ns)
{
	struct sampler_radio *r = s->radios[i];
	int at = plan_find(&r->plan, &r->now);

	if (at >= 0) {
		plan_heard(&r->plan, at, frames, ns / 1000);
		silence_watch_listened(&r->plan.entries[at].deaf, frames, ns / 1000000, s->deaf_ms,
				       false);
	}
	/* Silence during a focus says nothing about the card. */
	if (frames || !r->focus.mhz)
		say_deaf(s, i,
			 silence_watch_listened(&r->deaf, frames, ns / 1000000,
						all_silent(&r->plan) ? s->deaf_ms : 0, true));
	say_channels_deaf(s, i);
}

/* ---- dwells ---------------------------------------------------------------------------------- */

void sampler_tell(struct sampler *s, unsigned int i, uint64_t to_ns, uint64_t seen)
{
	struct sampler_radio *r = s->radios[i];
	struct dwell d = {
		.mhz = r->now.mhz,
		.width = r->now.width,
		.center = r->now.center,
		.from_ns = r->from_real_ns,
		.up_ns = r->from_ns,
		.frames = seen - r->seen,
		.marked = r->marked,
		.switch_ns = r->switch_ns,
	};

	if (to_ns < r->from_ns)
		to_ns = r->from_ns;
	d.to_ns = since_1970(r, to_ns);
	if (d.to_ns - d.from_ns - (to_ns - r->from_ns) + CLOCK_STEP_NS > 2 * CLOCK_STEP_NS)
		d.from_ns = d.to_ns - (to_ns - r->from_ns); /* the clock was set */
	listened(s, i, d.frames, to_ns - r->from_ns);
	if (to_ns > r->from_ns || d.frames || d.marked || r->untold_frames)
		hand_over(s, i, &d, to_ns);
	r->from_ns = to_ns;
	r->from_real_ns = d.to_ns;
	r->seen = seen;
	r->switch_ns = r->marked = 0;
}

/* Frames that came at most while it was on a wrong channel. */
static void tell_failed(struct sampler *s, unsigned int i, const struct radio_channel *c,
			uint64_t at_ns, uint64_t took_ns, int err)
{
	struct sampler_radio *r = s->radios[i];
	struct dwell d = {
		.mhz = c->mhz,
		.width = c->width,
		.center = c->center,
		.from_ns = r->from_real_ns,
		.up_ns = r->from_ns,
		.to_ns = r->from_real_ns,
		.marked = r->marked,
		.switch_ns = took_ns,
		.error = -err,
	};

	hand_over(s, i, &d, at_ns);
	r->marked = 0;
}

bool sampler_strayed(const struct sampler_radio *r, const struct order *o)
{
	return r->now.mhz && o->tuned.was.mhz && !channel_is(&o->tuned.was, &r->now);
}

/* The begin is unknown, so the time does not count, and its frames are marked. */
static void tell_strayed(struct sampler *s, unsigned int i, const struct order *o)
{
	struct sampler_radio *r = s->radios[i];
	char text[CHANNEL_TEXT_LEN], there[CHANNEL_TEXT_LEN];

	channel_text(text, &r->now);
	channel_text(there, &o->tuned.was);
	if (!r->strayed)
		log_line("%s: was on channel %s and not on %s: something else has tuned its radio; "
			 "what it heard meanwhile counts for no channel",
			 s->meets.info->interfaces[i].name, there, text);
	r->strayed = true;
	r->marked += r->seen_asked - r->seen;
	r->seen = r->seen_asked;
	tell_failed(s, i, &r->now, o->tuned.begin_ns, 0, -EXDEV);
}

/* After a failed try it keeps its channel, but does not listen until the next try. */
static bool is_between(const struct sampler_radio *r, uint64_t to_ns)
{
	return r->failures && to_ns - r->from_ns < PLAN_DWELL_MIN_US * 1000ULL;
}

void sampler_switched(struct sampler *s, unsigned int i, const struct order *o)
{
	struct sampler_radio *r = s->radios[i];
	uint64_t seen = sampler_seen(s, i), took_ns = o->tuned.end_ns - o->tuned.begin_ns;
	bool strayed = sampler_strayed(r, o);

	if (r->checks)
		dwells_begin(&s->dwells, i, r->asked_ns);
	if (strayed)
		tell_strayed(s, i, o);
	else if (r->now.mhz && !is_between(r, o->tuned.begin_ns))
		sampler_tell(s, i, o->tuned.begin_ns, r->seen_asked);
	else if (!r->from_ns)
		r->seen = r->seen_asked; /* it begins here */
	r->marked = seen - r->seen;
	r->seen = seen;
	r->from_ns = o->tuned.end_ns;
	r->from_real_ns = since_1970(r, r->from_ns);
	if (!o->error || r->now.mhz)
		dwells_settled(&s->dwells, i, r->from_ns + r->asked.settle_us * 1000ULL);
	if (o->error) {
		tell_failed(s, i, &r->target, r->from_ns, took_ns, o->error);
		if (strayed)
			r->now = o->tuned.was; /* where it stays for now */
		return;
	}
	r->now = r->target;
	r->switch_ns = took_ns ?: 1;
}

void sampler_last(struct sampler *s, unsigned int i, uint64_t now_ns)
{
	struct sampler_radio *r = s->radios[i];
	uint64_t seen = sampler_seen(s, i);

	if (r->state == SAMPLER_TUNING) {
		if (r->now.mhz)
			sampler_tell(s, i, r->asked_ns, r->seen_asked);
		else if (!r->from_ns)
			r->seen = r->seen_asked;
		r->now = r->target;
		r->marked = seen - r->seen;
		r->seen = seen;
		r->from_ns = now_ns;
		r->from_real_ns = since_1970(r, now_ns);
	}
	if (r->now.mhz && r->from_ns) {
		sampler_tell(s, i, now_ns, seen);
	} else if (r->target.mhz && seen > r->seen) {
		r->marked = seen - r->seen;
		tell_failed(s, i, &r->target, now_ns, 0, -ENETDOWN);
	}
}
