// SPDX-License-Identifier: GPL-2.0
/* Sums: see sums.h. */
#include "sums.h"

#include <stdbool.h>
#include <string.h>

#include "board/look.h"
#include "wire/channel.h"

static uint64_t rise(uint64_t now, uint64_t before)
{
	return now >= before ? now - before : now;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Returns the group's index, or -1 without room. */
static int group_index(struct sums *s, const char *name)
{
	uint32_t i = 0;

	while (i < s->group_count && strcmp(s->groups[i], name))
		i++;
	if (i == SUMS_GROUPS_MAX)
		return -1;
	if (i == s->group_count)
		memcpy(s->groups[s->group_count++], name, BOARD_NAME_MAX);
	return i;
}

/* Frequencies have 17 bits, and widths 14. */
static uint64_t key_of(int group, const struct board_channel *c)
{
	return (uint64_t)group << 48 | (uint64_t)(c->mhz & 0x1ffff) << 31 |
	       (uint64_t)(c->width & 0x3fff) << 17 | (c->center & 0x1ffff);
}

const char *sums_group(const struct sums *s, uint64_t key)
{
	return s->groups[key >> 48];
}

struct radio_channel sums_radio(uint64_t key)
{
	return (struct radio_channel){ key >> 31 & 0x1ffff, key >> 17 & 0x3fff, key & 0x1ffff };
}

static struct sums_channel *channel_row(struct sums *s, uint64_t key)
{
	uint32_t low = 0, high = s->channel_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (s->channels[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < s->channel_count && s->channels[low].key == key)
		return &s->channels[low];
	if (s->channel_count == SUMS_CHANNELS_MAX)
		return &s->other_channels;
	memmove(&s->channels[low + 1], &s->channels[low],
		(s->channel_count++ - low) * sizeof(*s->channels));
	s->channels[low] = (struct sums_channel){ .key = key };
	return &s->channels[low];
}

/* Returns a module's sum; that of the others without room. */
static uint64_t *module_row(struct sums *s, const char *name)
{
	uint32_t low = 0, high = s->module_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (strcmp(s->modules[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < s->module_count && !strcmp(s->modules[low].name, name))
		return &s->modules[low].events;
	if (s->module_count == SUMS_MODULES_MAX)
		return &s->other_events;
	memmove(&s->modules[low + 1], &s->modules[low],
		(s->module_count++ - low) * sizeof(*s->modules));
	s->modules[low] = (struct sums_module){ 0 };
	memcpy(s->modules[low].name, name, sizeof(s->modules[low].name));
	return &s->modules[low].events;
}

/* ---- records of the state before ------------------------------------------------------------- */

/* Whether sensor `i` was there before. */
static bool was_there(const struct board_state *now, const struct board_state *before, uint32_t i)
{
	return i < before->collector.sensors &&
	       before->collector.begun_us == now->collector.begun_us &&
	       before->sensors[i].id == now->sensors[i].id;
}

/* Returns the interface with the number of `n` in the state before, in the same run; its count if
 * there is none. */
static uint32_t interface_before(const struct board_state *now, const struct board_state *before,
				 const struct board_interface *n)
{
	const struct board_collector *c = &before->collector;
	uint32_t b;

	if (!was_there(now, before, n->sensor) ||
	    before->sensors[n->sensor].run != now->sensors[n->sensor].run)
		return c->interfaces;
	b = board_first_interface(before, n->sensor);
	while (b < c->interfaces && before->interfaces[b].sensor == n->sensor)
		if (before->interfaces[b].number == n->number)
			return b;
		else
			b++;
	return c->interfaces;
}

/* ---- one state ------------------------------------------------------------------------------- */

static void add_channel(struct sums *s, int group, const struct board_channel *now,
			const struct board_channel *before)
{
	struct sums_channel *row = group < 0 ? &s->other_channels
					     : channel_row(s, key_of(group, now));

	if (before && (before->mhz != now->mhz || before->width != now->width ||
		       before->center != now->center))
		before = NULL;
	row->listened_ns += rise(now->listened_ns, before ? before->listened_ns : 0);
	row->frames += rise(now->frames, before ? before->frames : 0);
}

/* Channels of an interface keep their places in a run, and further ones follow. */
static void add_interface(struct sums *s, const struct board_state *now,
			  const struct board_state *before, uint32_t n)
{
	uint32_t first = board_first_channel(now, n), b, before_first;
	int group = -1;

	if (first == now->collector.channels || now->channels[first].interface != n)
		return;
	group = group_index(s, now->sensors[now->interfaces[n].sensor].group);
	b = interface_before(now, before, &now->interfaces[n]);
	before_first = board_first_channel(before, b);
	for (uint32_t c = first; c < now->collector.channels && now->channels[c].interface == n;
	     c++) {
		uint32_t at = before_first + (c - first);
		bool has = at < before->collector.channels && before->channels[at].interface == b;

		add_channel(s, group, &now->channels[c], has ? &before->channels[at] : NULL);
	}
}

/* A sensor's modules keep their places, and further ones follow. */
static void add_module(struct sums *s, const struct board_state *now,
		       const struct board_state *before, uint32_t m)
{
	const struct board_module *module = &now->modules[m];
	uint32_t i = module->sensor, at = board_first_module(before, i);
	uint64_t earlier = 0;

	at += m - board_first_module(now, i);
	if (was_there(now, before, i) && at < before->collector.modules &&
	    before->modules[at].sensor == i && !strcmp(before->modules[at].name, module->name))
		earlier = before->modules[at].events;
	*module_row(s, module->name) += rise(module->events, earlier);
}

void sums_take(struct sums *s, const struct board_state *now, const struct board_state *before)
{
	for (uint32_t n = 0; n < now->collector.interfaces; n++)
		add_interface(s, now, before, n);
	for (uint32_t m = 0; m < now->collector.modules; m++)
		add_module(s, now, before, m);
}
