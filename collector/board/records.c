// SPDX-License-Identifier: GPL-2.0
/* Records: see records.h. */
#include "records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/combo/sensor.h"
#include "collector/combo/turns.h"
#include "collector/control/groups.h"
#include "collector/network/sensor.h"
#include "collector/output/sensor.h"
#include "links.h"
#include <saluki/linktype.h>

_Static_assert(SENSOR_NAME_MAX <= BOARD_NAME_MAX && GROUP_NAME_MAX <= BOARD_NAME_MAX, "names fit");
_Static_assert(MODULE_EVENT_NAME_MAX < sizeof(((struct board_module *)0)->name), "names fit");
_Static_assert((int)SENSOR_NEVER == BOARD_NEVER && (int)SENSOR_ENDED == BOARD_ENDED, "same states");

_Static_assert(INFO_INTERFACES_MAX <= BOARD_INTERFACES_EACH &&
		       COVERAGE_CHANNELS_MAX <= BOARD_CHANNELS_EACH &&
		       MODULE_COUNTS_MAX <= BOARD_MODULES_EACH,
	       "a sensor's records");

/* Returns the next record of a table of the state, or NULL without room. */
#define NEXT(w, table, most)                                                                       \
	((w)->collector->table < (most) ? &(w)->slot->table[(w)->collector->table++]               \
					: ((w)->collector->not_shown++, NULL))

uint64_t record_time_us(const struct record_writer *w, uint64_t ns)
{
	return ns ? w->now_us - (w->now_ns - ns) / 1000 : 0;
}

/* ---- descriptions ---------------------------------------------------------------------------- */

/* What is counted here outlives a change of the text. */
static struct record_texts *texts_read(const struct sensor_info *i, const struct record_texts *was)
{
	struct record_texts *t;
	struct info info;

	info_read(&info, i->text, i->len);
	t = calloc(1, sizeof(*t) + info.count * sizeof(*t->interfaces));
	if (!t)
		return NULL;
	if (was)
		*t = *was;
	t->version = i->version;
	t->round_trip_us = info.round_trip_us;
	t->ahead_us = info.ahead_us;
	t->behind_us = info.behind_us;
	t->count = info.count;
	memcpy(t->application, info.application, sizeof(t->application));
	memcpy(t->links, info.links, sizeof(t->links));
	memcpy(t->interfaces, info.interfaces, info.count * sizeof(*t->interfaces));
	return t;
}

/* Returns NULL if the sensor has not described itself, or without memory. */
static struct record_texts *texts_of(const struct sensor *s, struct record_texts **t)
{
	if (!s->info.text)
		return NULL;
	if (!*t || (*t)->version != s->info.version) {
		struct record_texts *new = texts_read(&s->info, *t);

		free(*t);
		*t = new;
	}
	return *t;
}

/* Notes whose frames have come. */
static void texts_look(struct record_texts *t, const struct record_writer *w,
		       const struct sensor *s)
{
	const struct interfaces *known = &s->output->interfaces;
	const struct interfaces_block *last = &known->list[known->last];

	if (known->count && last->last_ns) {
		t->newest_us = last->last_ns / 1000; /* less than before after its clock was set */
		if (last->interface < INFO_INTERFACES_MAX)
			t->radio[last->interface] |= linktype_is_80211(last->linktype);
	}
	for (unsigned int n = 0; n < t->count; n++) {
		uint64_t seen = s->ledger.now.sensor.interfaces[n].seen;

		if (seen != t->seen[n])
			t->rose_us[n] = w->now_us;
		t->seen[n] = seen;
		t->radio[n] |= coverage_of(s->coverage, n) != NULL;
	}
}

/* ---- interfaces and modules ------------------------------------------------------------------ */

static void record_channels(struct record_writer *w, struct board_interface *i,
			    const struct coverage_interface *c)
{
	i->from_ns = c->from_ns;
	i->to_ns = c->to_ns;
	i->begin_ns = c->begin_ns;
	i->end_ns = c->end_ns;
	i->other_dwells = c->others;
	for (unsigned int n = 0; n < c->count; n++) {
		const struct coverage_channel *from = &c->list[n];
		struct board_channel *out = NEXT(w, channels, BOARD_CHANNELS_MAX);

		if (!out)
			return;
		*out = (struct board_channel){
			.interface = i - w->slot->interfaces,
			.mhz = from->channel.mhz,
			.width = from->channel.width,
			.center = from->channel.center,
			.dwells = from->dwells,
			.listened_ns = from->listened_ns,
			.frames = from->frames,
			.marked = from->marked,
			.switch_ns = from->switch_ns,
			.failures = from->failures,
		};
	}
}

static void record_interface(struct record_writer *w, const struct sensor *s,
			     const struct record_texts *t, unsigned int number)
{
	const struct totals_interface *totals = &s->ledger.now.sensor.interfaces[number];
	const struct coverage_interface *c = coverage_of(s->coverage, number);
	struct board_interface *out = NEXT(w, interfaces, BOARD_INTERFACES_MAX);
	const struct info_interface *i = &t->interfaces[number];

	if (!out)
		return;
	*out = (struct board_interface){ .sensor = s->index,
					 .number = number,
					 .snaplen = i->snaplen,
					 .radio = t->radio[number],
					 .rose_us = t->rose_us[number] };
	memcpy(out->name, i->name, sizeof(out->name));
	memcpy(out->source, i->source, sizeof(out->source));
	memcpy(out->keep, i->keep, sizeof(out->keep));
	memcpy(out->filter, i->filter, sizeof(out->filter));
	if (t->links[number] && t->links[number] != INFO_LINK_UP)
		snprintf(out->state, sizeof(out->state), "%s", links_word(t->links[number]));
#define X(name) out->name = totals->name;
	TOTALS_INTERFACE_FIELDS(X)
#undef X
	if (c)
		record_channels(w, out, c);
}

static void record_modules(struct record_writer *w, const struct sensor *s)
{
	for (unsigned int n = 0; s->modules && n < s->modules->count; n++) {
		const struct module_count *m = &s->modules->of[n];
		struct board_module *out = NEXT(w, modules, BOARD_MODULES_MAX);

		if (!out)
			return;
		*out = (struct board_module){ .sensor = s->index,
					      .events = m->events,
					      .last_us = record_time_us(w, m->last_ns) };
		memcpy(out->name, m->name, sizeof(m->name));
	}
}

/* ---- the sensor ------------------------------------------------------------------------------ */

static void show_ledger(struct board_sensor *b, const struct ledger *l)
{
	struct ledger_run sum = ledger_sum(l);

#define X(name, help) b->totals.name = sum.sensor.name;
	TOTALS_FIELDS(X)
#undef X
	b->vanished = sum.vanished;
	b->written = sum.written;
	b->lost_missing = sum.lost_missing;
	b->lost_disk = sum.lost_disk;
	b->lost_refused = sum.lost_refused;
	b->earlier = sum.earlier;
	b->counted = l->runs != 0;
	b->run = l->run;
	b->runs = l->runs;
	b->received_bytes = l->received_bytes;
	b->bad_combos = l->bad_combos;
	b->bad_pieces = l->bad_pieces;
	b->bad_messages = l->bad_messages;
	b->duplicate_pieces = l->duplicate_pieces;
	b->bad_events = l->bad_events;
	b->unknown_events = l->unknown_events;
	b->module_events = l->module_events;
	b->in_flight = ledger_in_flight(l);
	b->balance = ledger_balance(l);
}

static void show_session(struct board_sensor *b, const struct sensor *s)
{
	const struct session *session = s->network && s->network->sessions ? sensor_session(s)
									   : NULL;

	b->address_len = session ? session->address.len : 0;
	if (b->address_len)
		memcpy(b->address, &session->address.any, b->address_len);
	b->one_way = s->no_acks;
}

static void show_place(struct board_sensor *b, const struct sensor_place *p)
{
	b->placed = (p->has_floor ? BOARD_PLACED_FLOOR : 0) | (p->has_x ? BOARD_PLACED_X : 0) |
		    (p->has_y ? BOARD_PLACED_Y : 0);
	b->floor = p->floor;
	b->x = p->x;
	b->y = p->y;
}

static void show_texts(struct record_writer *w, struct board_sensor *b, const struct sensor *s,
		       const struct record_texts *t)
{
	static const struct record_texts none;

	t = t ?: &none;
	memcpy(b->application, t->application, sizeof(b->application));
	b->newest_us = t->newest_us;
	b->round_trip_us = t->round_trip_us;
	b->ahead_us = t->ahead_us;
	b->behind_us = t->behind_us;
	b->interfaces = t->count;
	for (unsigned int n = 0; n < t->count; n++)
		record_interface(w, s, t, n);
}

void record_sensor(struct record_writer *w, const struct sensor *s, struct record_texts **texts)
{
	struct board_sensor b = { 0 };
	const struct sensor_group *group = s->member ? s->member->group : NULL;
	struct record_texts *t = texts_of(s, texts);

	memcpy(b.name, s->name, SENSOR_NAME_MAX);
	memcpy(b.group, group ? group->name : s->group_name, GROUP_NAME_MAX);
	b.id = s->id;
	b.listed = s->listed;
	b.presence = s->presence;
	b.held = turns_holds(w->combos, s);
	b.held_disk_ns = turns_held_ns(s, w->now_ns);
	b.heard_us = s->heard_ns ? record_time_us(w, s->heard_ns) : s->before.heard_s * 1000000ULL;
	b.twice_us = record_time_us(w, s->twice_ns);
	show_place(&b, &s->place);
	show_ledger(&b, &s->ledger);
	show_session(&b, s);
	if (t)
		texts_look(t, w, s);
	show_texts(w, &b, s, t);
	board_sensor_write(w->slot, s->index, &b);
	record_modules(w, s);
}
