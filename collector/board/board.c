// SPDX-License-Identifier: GPL-2.0
/* Board, the receiving process: see board.h. In: all sensors and counters. Out: one state. */
#include "board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/combo/sensor.h"
#include "collector/combo/turns.h"
#include "collector/control/groups.h"
#include "collector/network/network.h"
#include "collector/network/receive.h"
#include "collector/network/sensor.h"
#include "collector/output/output.h"
#include "collector/output/sensor.h"
#include "common/monotonic.h"
#include "common/version.h"

#define SECOND_NS 1000000000ULL

_Static_assert(SENSOR_NAME_MAX <= BOARD_NAME_MAX && GROUP_NAME_MAX <= BOARD_NAME_MAX, "names fit");
_Static_assert((int)SENSOR_NEVER == BOARD_NEVER && (int)SENSOR_ENDED == BOARD_ENDED, "same states");

/* A sensor's description. It rarely changes, and reading its text takes longer than the rest. */
struct board_texts {
	uint32_t version; /* of the text */
	char application[64];
	uint64_t round_trip_us, ahead_us, behind_us;
	unsigned int count;
	struct info_interface interfaces[];
};

/* A state that is being written. */
struct writing {
	struct board_slot *slot;
	struct board_collector *collector; /* the slot's */
	uint64_t now_ns, now_us;
};

/* Returns the next record of a table of the state, or NULL without room. */
#define NEXT(w, table, most)                                                                       \
	((w)->collector->table < (most) ? &(w)->slot->table[(w)->collector->table++]               \
					: ((w)->collector->not_shown++, NULL))

static uint64_t unix_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000ULL + t.tv_nsec / 1000;
}

/* ---- descriptions ---------------------------------------------------------------------------- */

static struct board_texts *texts_read(const struct sensor_info *i)
{
	struct board_texts *t;
	struct info info;

	info_read(&info, i->text, i->len);
	t = calloc(1, sizeof(*t) + info.count * sizeof(*t->interfaces));
	if (!t)
		return NULL;
	t->version = i->version;
	t->round_trip_us = info.round_trip_us;
	t->ahead_us = info.ahead_us;
	t->behind_us = info.behind_us;
	t->count = info.count;
	memcpy(t->application, info.application, sizeof(t->application));
	memcpy(t->interfaces, info.interfaces, info.count * sizeof(*t->interfaces));
	return t;
}

/* Returns NULL if the sensor has not described itself, or without memory. */
static const struct board_texts *texts_of(struct board_writer *w, const struct sensor *s)
{
	struct board_texts **t = &w->texts[s->index];

	if (!s->info.text)
		return NULL;
	if (!*t || (*t)->version != s->info.version) {
		free(*t);
		*t = texts_read(&s->info);
	}
	return *t;
}

/* ---- records --------------------------------------------------------------------------------- */

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
	b->totals.final = l->now.sensor.final; /* of the present run */
	b->in_flight = ledger_in_flight(l);
	b->balance = ledger_balance(l);
}

static void show_session(struct board_sensor *b, const struct sensor *s)
{
	const struct session *session = s->network->sessions ? sensor_session(s) : NULL;

	b->address_len = session ? session->address.len : 0;
	if (b->address_len)
		memcpy(b->address, &session->address.any, b->address_len);
	b->one_way = s->no_acks;
}

static void show_interface(struct writing *w, const struct board_sensor *b, unsigned int number,
			   const struct info_interface *i, const struct totals_interface *t)
{
	struct board_interface *out = NEXT(w, interfaces, BOARD_INTERFACES_MAX);

	if (!out)
		return;
	out->sensor = b - w->slot->sensors;
	out->number = number;
	memcpy(out->name, i->name, sizeof(out->name));
	memcpy(out->source, i->source, sizeof(out->source));
	memcpy(out->keep, i->keep, sizeof(out->keep));
	memcpy(out->filter, i->filter, sizeof(out->filter));
	out->snaplen = i->snaplen;
#define X(name) out->name = t->name;
	TOTALS_INTERFACE_FIELDS(X)
#undef X
}

static void show_texts(struct writing *w, struct board_sensor *b, const struct sensor *s,
		       const struct board_texts *t)
{
	static const struct board_texts none;

	t = t ?: &none;
	memcpy(b->application, t->application, sizeof(b->application));
	b->round_trip_us = t->round_trip_us;
	b->ahead_us = t->ahead_us;
	b->behind_us = t->behind_us;
	b->interfaces = t->count;
	for (unsigned int n = 0; n < t->count; n++)
		show_interface(w, b, n, &t->interfaces[n], &s->ledger.now.sensor.interfaces[n]);
}

static void show_sensor(struct board_writer *w, struct writing *to, const struct combos *c,
			const struct sensor *s)
{
	struct board_sensor *b = &to->slot->sensors[s->index];
	const struct sensor_group *group = s->member ? s->member->group : NULL;

	memcpy(b->name, s->name, SENSOR_NAME_MAX);
	snprintf(b->group, sizeof(b->group), "%s", group ? group->name : "");
	b->id = s->id;
	b->listed = s->listed;
	b->presence = s->presence;
	b->held = turns_holds(c, s);
	b->heard_us = s->heard_ns ? to->now_us - (to->now_ns - s->heard_ns) / 1000 : 0;
	show_ledger(b, &s->ledger);
	show_session(b, s);
	show_texts(to, b, s, texts_of(w, s));
}

static void show_collector(struct board_writer *w, struct writing *to,
			   const struct board_sources *from)
{
	const struct output *out = from->network->combos->output;
	struct board_collector *c = to->collector;

	c->time_us = to->now_us;
	c->begun_us = w->begun_us;
	c->interval_ns = to->now_ns - w->shown_ns;
	snprintf(c->version, sizeof(c->version), "%s", SALUKI_VERSION);
	memcpy(c->file, out->name, strnlen(out->name, sizeof(c->file) - 1) + 1);
	c->file[sizeof(c->file) - 1] = 0;
	c->holding = out->hold.on;
	c->sensors = c->interfaces = c->channels = c->modules = c->groups = c->refused = 0;
	c->not_shown = 0;
	c->disk_free = out->budget.on ? out->budget.free : 0;
	c->keep_free = out->budget.on ? out->budget.keep : 0;
	c->network = from->network->counters;
	c->kernel_dropped = receive_dropped(from->receive);
	c->write_errors = out->write_errors;
	c->holds = out->hold.count;
	c->lines_written = out->lines.written;
	c->lines_lost = out->lines.lost;
	c->lines_refused = out->lines.refused;
	c->lines_recovered = out->lines.recovered;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* The list of sensors may have grown. */
static bool texts_room(struct board_writer *w, unsigned int count)
{
	struct board_texts **more;

	if (count <= w->room)
		return true;
	more = realloc(w->texts, count * sizeof(*more));
	if (!more)
		return false;
	memset(more + w->room, 0, (count - w->room) * sizeof(*more));
	w->texts = more;
	w->room = count;
	return true;
}

static void show(struct board_writer *w, const struct board_sources *from, uint64_t now_ns)
{
	const struct sensors *sensors = from->network->sensors;
	uint32_t n = w->count + 1;
	struct board_slot *slot = board_slot(w->map, n);
	struct writing to = {
		.slot = slot,
		.collector = &slot->collector,
		.now_ns = now_ns,
		.now_us = unix_us(),
	};

	w->begun_us = w->begun_us ?: to.now_us;
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* readers see the last number before changes */
	show_collector(w, &to, from);
	to.collector->sensors = sensors->count < BOARD_SENSORS_MAX ? sensors->count
								   : BOARD_SENSORS_MAX;
	for (uint32_t i = 0; i < to.collector->sensors; i++)
		show_sensor(w, &to, from->network->combos, sensors->list[i]);
	w->count = n;
	w->shown_ns = now_ns;
	__atomic_store_n(&w->map->published, n, __ATOMIC_RELEASE);
}

int board_tick(struct board_writer *w, const struct board_sources *from, uint64_t now_ns)
{
	if (!w->map)
		return -1;
	if (now_ns >= w->next_ns) {
		w->next_ns = now_ns + SECOND_NS;
		if (texts_room(w, from->network->sensors->count))
			show(w, from, now_ns);
	}
	return monotonic_timeout(w->next_ns, now_ns);
}

void board_writer_free(struct board_writer *w)
{
	for (unsigned int i = 0; i < w->room; i++)
		free(w->texts[i]);
	free(w->texts);
	w->texts = NULL;
	w->room = 0;
}
