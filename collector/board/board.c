// SPDX-License-Identifier: GPL-2.0
/* Board, the receiving process: see board.h. In: all sensors and counters. Out: one state. */
#include "board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/control/groups.h"
#include "collector/network/network.h"
#include "collector/network/receive.h"
#include "collector/output/output.h"
#include "common/monotonic.h"
#include "common/version.h"
#include "records.h"

#define SECOND_NS 1000000000ULL

_Static_assert(GROUP_NAME_MAX <= BOARD_NAME_MAX &&
		       GROUP_LIST_MAX <= sizeof(((struct board_group *)0)->channels) &&
		       GROUPS_MAX <= BOARD_GROUPS_MAX,
	       "groups fit");

/* ---- the collector, and what is not a sensor's ------------------------------------------------
 */

static void show_collector(struct board_writer *w, struct record_writer *to,
			   const struct board_sources *from)
{
	const struct output *out = from->network->combos->output;
	struct board_collector *c = to->collector;

	c->time_us = to->now_us;
	c->begun_us = w->begun_us;
	c->interval_ns = to->now_ns - w->shown_ns;
	c->silent_ns = w->silent_ns;
	snprintf(c->version, sizeof(c->version), "%s", SALUKI_VERSION);
	memcpy(c->file, out->name, strnlen(out->name, sizeof(c->file) - 1) + 1);
	c->file[sizeof(c->file) - 1] = 0;
	c->holding = out->hold.on;
	c->sensors = c->interfaces = c->channels = c->modules = c->groups = c->refused = 0;
	c->not_shown = 0;
	c->disk_free = out->budget.on ? out->budget.free : 0;
	c->disk_size = out->budget.on ? out->budget.size : 0;
	c->keep_free = out->budget.on ? out->budget.keep : 0;
	c->written_us = record_time_us(to, out->written_ns);
	c->written_bytes = out->written_bytes;
	c->pool_bytes = from->network->combos->pool.used;
	c->pool_limit = from->network->combos->pool.limit;
	c->network = from->network->counters;
	c->kernel_dropped = receive_dropped(from->receive);
	c->write_errors = out->write_errors;
	c->holds = out->hold.count;
	c->lines_written = out->lines.written;
	c->lines_lost = out->lines.lost;
	c->lines_refused = out->lines.refused;
	c->lines_recovered = out->lines.recovered;
}

static void show_groups(struct record_writer *to, const struct groups *g)
{
	for (unsigned int i = 0; i < g->count && i < BOARD_GROUPS_MAX; i++) {
		const struct sensor_group *x = g->list[i];
		struct board_group *out = &to->slot->groups[to->collector->groups++];

		memcpy(out->name, x->name, sizeof(x->name));
		memcpy(out->channels, x->list, sizeof(x->list));
		out->members = x->members;
		out->present = x->present;
		out->refocused = x->refocused;
	}
}

static void show_refused(struct record_writer *to, const struct refused_list *l)
{
	to->collector->refused = l->count;
	memcpy(to->slot->refused, l->of, l->count * sizeof(l->of[0]));
}

/* ---- states ---------------------------------------------------------------------------------- */

/* The list of sensors may have grown. */
static bool texts_room(struct board_writer *w, unsigned int count)
{
	struct record_texts **more;

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
	struct record_writer to = {
		.slot = slot,
		.collector = &slot->collector,
		.now_ns = now_ns,
		.now_us = clock_ns(CLOCK_REALTIME) / 1000,
		.combos = from->network->combos,
	};

	w->begun_us = w->begun_us ?: to.now_us;
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* readers see the last number before changes */
	show_collector(w, &to, from);
	kafka_show_sink(&to, &w->sink, from->network->combos->output->sink);
	kafka_show_source(&to, &w->source, from->source);
	to.collector->sensors = sensors->count < BOARD_SENSORS_MAX ? sensors->count
								   : BOARD_SENSORS_MAX;
	for (uint32_t i = 0; i < to.collector->sensors; i++)
		record_sensor(&to, sensors->list[i], &w->texts[sensors->list[i]->index]);
	show_groups(&to, from->groups);
	show_refused(&to, &from->network->refused.list);
	w->count = n;
	w->shown_ns = now_ns;
	__atomic_store_n(&w->map->published, n, __ATOMIC_RELEASE);
}

void board_show_last(struct board_writer *w, const struct board_sources *from, uint64_t now_ns)
{
	if (w->map && texts_room(w, from->network->sensors->count))
		show(w, from, now_ns);
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
