// SPDX-License-Identifier: GPL-2.0
/* Refocus: see refocus.h. */
#include "refocus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/model/sensors.h"
#include "common/duration.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "wire/bytes.h"
#include "wire/channel.h"
#include "wire/dwell.h"
#include "wire/info.h"
#include "collector/combo/sensor.h"

#define LINKTYPE_RADIOTAP 127

/* ---- rules ----------------------------------------------------------------------------------- */

static const struct expression *find(const struct refocus *r, const char *text)
{
	for (unsigned int i = 0; i < r->texts_count; i++)
		if (!strcmp(r->texts[i].text, text))
			return r->texts[i].expression;
	return NULL;
}

static int add_text(struct refocus *r, const struct refocus_line *l, const char *path)
{
	struct refocus_text *t = &r->texts[r->texts_count];
	char why[300];

	if (find(r, l->expression))
		return 0;
	t->expression = expression_new(l->expression, why, sizeof(why));
	if (!t->expression) {
		log_line("--sensors %s: line %u: '%.100s': %s", path, l->number, l->expression,
			 why);
		return -EINVAL;
	}
	t->text = strdup(l->expression);
	r->texts_count++;
	return t->text ? 0 : -ENOMEM;
}

int refocus_init(struct refocus *r, struct groups *g, struct combos *c, const struct groups_file *f,
		 const char *path)
{
	int err = 0;

	*r = (struct refocus){ .groups = g, .combos = c };
	for (unsigned int i = 0; !err && i < f->rules_count; i++)
		err = add_text(r, &f->rules[i], path);
	return err;
}

void refocus_free(struct refocus *r)
{
	for (unsigned int i = 0; i < r->texts_count; i++) {
		expression_free(r->texts[i].expression);
		free(r->texts[i].text);
	}
	r->texts_count = r->rules_count = 0;
}

bool refocus_knows(const struct refocus *r, const struct groups_file *f, const char *path)
{
	for (unsigned int i = 0; i < f->rules_count; i++) {
		if (find(r, f->rules[i].expression))
			continue;
		log_line("--sensors %s: line %u: this expression is new; restart the collector, "
			 "as it cannot compile expressions any more",
			 path, f->rules[i].number);
		return false;
	}
	return true;
}

void refocus_apply(struct refocus *r, const struct groups_file *f)
{
	for (unsigned int i = 0; i < f->rules_count; i++)
		r->rules[i] = (struct refocus_rule){
			.group = r->groups->list[f->rules[i].group - 1],
			.expression = find(r, f->rules[i].expression),
			.ms = f->rules[i].ms,
		};
	r->rules_count = f->rules_count;
	r->combos->framed = r->rules_count ? refocus_framed : NULL;
	r->combos->framed_user = r;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Returns radiotap's channel in MHz; 0: none. Before it, by bits 0 to 2: a time stamp of 8 aligned
 * bytes, a byte of flags, a byte of rate. The channel is aligned to 2. */
static uint32_t frame_mhz(const struct combo_frame *f)
{
	uint32_t present, len, at = 8;

	if (f->linktype != LINKTYPE_RADIOTAP || f->kept_len < 8)
		return 0;
	len = f->data[2] | f->data[3] << 8;
	present = load_le32(f->data + 4);
	if (len > f->kept_len || !(present & 8))
		return 0;
	for (uint32_t more = present; more >> 31; at += 4) {
		if (at + 4 > len)
			return 0;
		more = load_le32(f->data + at);
	}
	if (present & 1)
		at = (at + 7) / 8 * 8 + 8;
	at += !!(present & 2) + !!(present & 4);
	at += at % 2;
	return at + 2 <= len ? (uint32_t)(f->data[at] | f->data[at + 1] << 8) : 0;
}

/* The time stamp is of the sensor's clock, and the sensor's info has this clock's offset. */
static bool is_old(const struct sensor *s, const struct combo_frame *f)
{
	uint64_t age_ns = clock_ns(CLOCK_REALTIME) - f->time_ns;
	struct info i;

	info_read(&i, s->info.text, s->info.len);
	age_ns += (i.ahead_us - i.behind_us) * 1000;
	return (int64_t)age_ns > (int64_t)REFOCUS_OLD_NS;
}

static void act(struct refocus *r, struct refocus_rule *rule, const struct sensor *s, uint32_t mhz,
		uint64_t now_ns)
{
	const struct radio_channel c = { .mhz = mhz, .width = 20, .center = mhz };
	struct group_focus *focus = &rule->group->focus;
	uint64_t until_ns = now_ns + rule->ms * 1000000ULL;
	bool prolongs = now_ns < focus->until_ns;
	char text[CHANNEL_TEXT_LEN], lasts[DURATION_TEXT_LEN];

	rule->again_ns = now_ns + REFOCUS_UNFIT_NS;
	/* An order with a shorter time would end a longer focus early. */
	if (now_ns < focus->again_ns || !channel_is_sound(&c) ||
	    (prolongs && (mhz != focus->mhz || until_ns <= focus->until_ns)))
		return;
	channel_text(text, &c);
	if (!groups_focus(r->groups, rule->group, text, rule->ms, now_ns))
		return;
	*focus = (struct group_focus){ now_ns + REFOCUS_AGAIN_NS, until_ns, mhz };
	if (prolongs)
		return;
	rule->group->refocused++;
	log_info("group %s: to channel %s for %s, by a frame that sensor %s heard",
		 rule->group->name, text, duration_text(lasts, rule->ms * 1000ULL), s->name);
}

/* Notes the sensor whose next dwell tells the channel. A later sensor does not replace one that is
 * noted already. */
static void await_dwell(struct refocus_rule *rule, const struct sensor *s, uint8_t interface,
			uint64_t now_ns)
{
	if (!rule->asked || now_ns - rule->asked_ns >= REFOCUS_OLD_NS) {
		rule->asked = s;
		rule->asked_ns = now_ns;
	}
	if (rule->asked == s)
		rule->interface = interface;
}

static void take_frame(struct refocus *r, struct refocus_rule *rule, const struct sensor *s,
		       const struct combo_frame *f, uint64_t now_ns)
{
	uint32_t mhz;

	if (now_ns < rule->again_ns || now_ns < rule->group->focus.again_ns ||
	    !expression_match(rule->expression, f))
		return;
	if (is_old(s, f)) {
		rule->again_ns = now_ns + REFOCUS_UNFIT_NS;
		return;
	}
	mhz = frame_mhz(f);
	if (mhz)
		act(r, rule, s, mhz, now_ns);
	else
		await_dwell(rule, s, f->interface, now_ns);
}

static void take_event(struct refocus *r, struct refocus_rule *rule, const struct sensor *s,
		       const struct combo_event *e, uint64_t now_ns)
{
	struct dwell d;

	if (rule->asked != s || e->type != COMBO_EVENT_DWELL || dwell_read(&d, e->bytes, e->len) ||
	    d.interface != rule->interface || d.error)
		return;
	rule->asked = NULL;
	act(r, rule, s, d.mhz, now_ns);
}

void refocus_framed(void *user, struct sensor *s, const struct combo_frame *f,
		    const struct combo_event *e, uint64_t now_ns)
{
	struct refocus *r = user;

	/* Frames forwarded from a spool are old. */
	if (!s->member || !s->member->group || s->combo->forward.id)
		return;
	for (unsigned int i = 0; i < r->rules_count; i++) {
		if (r->rules[i].group != s->member->group)
			continue;
		if (f)
			take_frame(r, &r->rules[i], s, f, now_ns);
		else
			take_event(r, &r->rules[i], s, e, now_ns);
	}
}
