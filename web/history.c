// SPDX-License-Identifier: GPL-2.0
/* History: see history.h. A minute is at `minute % HISTORY_MINUTES` of each array. */
#include "history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_US 60000000
#define SLOTS 8192 /* of the hash table; a power of 2, and twice HISTORY_SERIES_MAX */

struct group {
	char name[BOARD_NAME_MAX];
	uint64_t sensor_ns[HISTORY_MINUTES]; /* all 0: the record is free */
};

struct series {
	uint32_t group;
	struct history_channel of;
};

struct web_history {
	uint64_t minute;
	uint64_t disk_size;
	struct {
		uint64_t time_us, free; /* of the minute's first state; time 0: none */
	} disk[HISTORY_MINUTES];
	uint64_t now_us, free_now;
	struct group groups[HISTORY_GROUPS_MAX];
	uint32_t last_group; /* found by the last search */
	struct series *series;
	unsigned int count, room;
	uint16_t slots[SLOTS]; /* index into `series`, from 1 on */
	uint64_t not_shown;
};

struct web_history *history_new(void)
{
	return calloc(1, sizeof(struct web_history));
}

void history_free(struct web_history *h)
{
	if (h)
		free(h->series);
	free(h);
}

/* ---- groups and their channels --------------------------------------------------------------- */

static bool is_free(const struct group *g)
{
	for (int i = 0; i < HISTORY_MINUTES; i++)
		if (g->sensor_ns[i])
			return false;
	return true;
}

/* Returns the group's index, or HISTORY_GROUPS_MAX. */
static uint32_t group_find(const struct web_history *h, const char *name)
{
	uint32_t i = h->last_group;

	if (!strcmp(h->groups[i].name, name) && !is_free(&h->groups[i]))
		return i;
	for (i = 0; i < HISTORY_GROUPS_MAX; i++)
		if (!strcmp(h->groups[i].name, name) && !is_free(&h->groups[i]))
			break;
	return i;
}

static uint32_t group_make(struct web_history *h, const char *name)
{
	uint32_t i = group_find(h, name);

	if (i < HISTORY_GROUPS_MAX)
		return h->last_group = i;
	for (i = 0; i < HISTORY_GROUPS_MAX; i++)
		if (is_free(&h->groups[i])) {
			memcpy(h->groups[i].name, name, strlen(name) + 1);
			return h->last_group = i;
		}
	return HISTORY_GROUPS_MAX;
}

/* Returns the slot of a series, or the empty one where it belongs. */
static uint16_t *slot_of(struct web_history *h, uint32_t group, const struct radio_channel *c)
{
	uint32_t at = (((group * 31 + c->mhz) * 31 + c->width + c->center) * 2654435761U) >> 16;

	for (;; at++) {
		uint16_t *slot = &h->slots[at % SLOTS];
		const struct series *s;

		if (!*slot)
			return slot;
		s = &h->series[*slot - 1];
		if (s->group == group && channel_is(&s->of.channel, c))
			return slot;
	}
}

static bool series_room(struct web_history *h)
{
	unsigned int room = h->room ? h->room * 2 : 64;
	struct series *more;

	if (h->count < h->room)
		return true;
	if (room > HISTORY_SERIES_MAX)
		return false;
	more = realloc(h->series, room * sizeof(*more));
	if (!more)
		return false;
	h->series = more;
	h->room = room;
	return true;
}

/* Returns the series, or NULL without room. */
static struct series *series_make(struct web_history *h, uint32_t group,
				  const struct radio_channel *c)
{
	uint16_t *slot = slot_of(h, group, c);

	if (*slot)
		return &h->series[*slot - 1];
	if (!series_room(h)) {
		h->not_shown++;
		return NULL;
	}
	h->series[h->count] = (struct series){ .group = group, .of.channel = *c };
	*slot = ++h->count;
	return &h->series[h->count - 1];
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool is_empty(const struct series *s)
{
	for (int i = 0; i < HISTORY_MINUTES; i++)
		if (s->of.minutes[i].listened_ns || s->of.minutes[i].frames)
			return false;
	return true;
}

/* Removes series without any value in the last hour. */
static void series_sweep(struct web_history *h)
{
	unsigned int left = 0;

	memset(h->slots, 0, sizeof(h->slots));
	for (unsigned int i = 0; i < h->count; i++) {
		if (is_empty(&h->series[i]))
			continue;
		h->series[left] = h->series[i];
		*slot_of(h, h->series[left].group, &h->series[left].of.channel) = left + 1;
		left++;
	}
	h->count = left;
}

static void minute_clear(struct web_history *h, unsigned int at)
{
	h->disk[at].time_us = 0;
	for (int g = 0; g < HISTORY_GROUPS_MAX; g++)
		h->groups[g].sensor_ns[at] = 0;
	for (unsigned int i = 0; i < h->count; i++)
		h->series[i].of.minutes[at] = (struct history_cell){ 0 };
}

/* Begins the minutes up to `minute`. A clock that was set back by an hour or more begins a new
 * history; until then, time that comes twice is added to the newest minute. */
static void minute_begin(struct web_history *h, uint64_t minute)
{
	uint64_t first = h->minute + 1;

	if (minute <= h->minute && minute + HISTORY_MINUTES > h->minute)
		return;
	if (minute < first || minute - first >= HISTORY_MINUTES)
		first = minute - HISTORY_MINUTES + 1;
	for (uint64_t m = first; m != minute + 1; m++)
		minute_clear(h, m % HISTORY_MINUTES);
	h->minute = minute;
	series_sweep(h);
}

/* ---- one state ------------------------------------------------------------------------------- */

static struct radio_channel channel_of(const struct board_channel *c)
{
	return (struct radio_channel){ c->mhz, c->width, c->center };
}

/* Returns the channel's record a state earlier; NULL: it was not there. */
static const struct board_channel *channel_before(const struct board_state *was, uint32_t interface,
						  const struct radio_channel *c)
{
	uint32_t i = board_first_channel(was, interface);

	for (; i < was->collector.channels && was->channels[i].interface == interface; i++) {
		struct radio_channel other = channel_of(&was->channels[i]);

		if (channel_is(&other, c))
			return &was->channels[i];
	}
	return NULL;
}

static uint64_t risen(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void take_channel(struct web_history *h, uint32_t group, const struct board_channel *now,
			 const struct board_channel *was)
{
	static const struct board_channel none;
	struct radio_channel c = channel_of(now);
	uint64_t listened_ns, frames;
	struct history_cell *cell;
	struct series *s;

	was = was ?: &none;
	listened_ns = risen(now->listened_ns, was->listened_ns);
	frames = risen(now->frames, was->frames);
	s = listened_ns || frames ? series_make(h, group, &c) : NULL;
	if (!s)
		return;
	cell = &s->of.minutes[h->minute % HISTORY_MINUTES];
	cell->listened_ns += listened_ns;
	cell->frames += frames;
}

/* Returns the index of the sensor's interface of this number; UINT32_MAX: it was not there. */
static uint32_t interface_before(const struct board_state *was, uint32_t sensor, uint32_t number)
{
	uint32_t n = board_first_interface(was, sensor);

	for (; n < was->collector.interfaces && was->interfaces[n].sensor == sensor; n++)
		if (was->interfaces[n].number == number)
			return n;
	return UINT32_MAX;
}

static void take_interface(struct web_history *h, const struct board_states *s, uint32_t group,
			   uint32_t n)
{
	const struct board_interface *i = &s->now.interfaces[n];
	uint32_t was = interface_before(&s->before, i->sensor, i->number);
	uint32_t c = board_first_channel(&s->now, n);

	/* One that is new may have channels of a longer time. */
	if (was == UINT32_MAX)
		return;
	for (; c < s->now.collector.channels && s->now.channels[c].interface == n; c++) {
		const struct radio_channel channel = channel_of(&s->now.channels[c]);

		take_channel(h, group, &s->now.channels[c],
			     channel_before(&s->before, was, &channel));
	}
}

static bool has_channels(const struct board_state *s, uint32_t sensor)
{
	uint32_t n = board_first_interface(s, sensor);

	for (; n < s->collector.interfaces && s->interfaces[n].sensor == sensor; n++) {
		uint32_t c = board_first_channel(s, n);

		if (c < s->collector.channels && s->channels[c].interface == n)
			return true;
	}
	return false;
}

static void take_sensor(struct web_history *h, const struct board_states *s, uint32_t i)
{
	const struct board_sensor *now = &s->now.sensors[i];
	uint32_t n = board_first_interface(&s->now, i), group;

	if (now->presence != BOARD_UP || !board_earlier(s, i) || !has_channels(&s->now, i))
		return;
	group = group_make(h, now->group);
	if (group == HISTORY_GROUPS_MAX) {
		h->not_shown++;
		return;
	}
	h->groups[group].sensor_ns[h->minute % HISTORY_MINUTES] += s->now.collector.interval_ns;
	for (; n < s->now.collector.interfaces && s->now.interfaces[n].sensor == i; n++)
		take_interface(h, s, group, n);
}

static void take_disk(struct web_history *h, const struct board_collector *c)
{
	unsigned int at = h->minute % HISTORY_MINUTES;

	if (c->disk_size != h->disk_size) /* another file system */
		memset(h->disk, 0, sizeof(h->disk));
	h->disk_size = c->disk_size;
	h->now_us = c->time_us;
	h->free_now = c->disk_free;
	if (h->disk[at].time_us)
		return;
	h->disk[at].time_us = c->time_us;
	h->disk[at].free = c->disk_free;
}

void history_take(struct web_history *h, const struct board_states *s)
{
	minute_begin(h, s->now.collector.time_us / MINUTE_US);
	take_disk(h, &s->now.collector);
	for (uint32_t i = 0; i < s->now.collector.sensors; i++)
		take_sensor(h, s, i);
}

/* ---- views ----------------------------------------------------------------------------------- */

static int by_frequency(const void *a, const void *b)
{
	const struct radio_channel *x = &((const struct history_channel *)a)->channel;
	const struct radio_channel *y = &((const struct history_channel *)b)->channel;

	if (x->mhz != y->mhz)
		return x->mhz < y->mhz ? -1 : 1;
	return x->width != y->width ? x->width - y->width : x->center - y->center;
}

/* Minute `i` of a view, the oldest first. */
static unsigned int place(const struct web_history *h, int i)
{
	return (h->minute + 1 + i) % HISTORY_MINUTES;
}

/* Adds neighbours of one channel up. Returns the number of channels. */
static unsigned int join(struct history_channel *list, unsigned int count)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < count; i++) {
		if (!left || !channel_is(&list[left - 1].channel, &list[i].channel)) {
			list[left++] = list[i];
			continue;
		}
		for (int m = 0; m < HISTORY_MINUTES; m++) {
			list[left - 1].minutes[m].listened_ns += list[i].minutes[m].listened_ns;
			list[left - 1].minutes[m].frames += list[i].minutes[m].frames;
		}
	}
	return left;
}

const char *history_group(const struct web_history *h, uint32_t i)
{
	return is_free(&h->groups[i]) ? NULL : h->groups[i].name;
}

int history_view(struct history_view *v, const struct web_history *h, const char *group)
{
	uint32_t wanted = group ? group_find(h, group) : 0;

	*v = (struct history_view){ .minute = h->minute, .not_shown = h->not_shown };
	if (wanted == HISTORY_GROUPS_MAX)
		return -ENOENT;
	v->channels = calloc(h->count + 1, sizeof(*v->channels));
	if (!v->channels)
		return -ENOMEM;
	for (int i = 0; i < HISTORY_MINUTES; i++)
		for (uint32_t g = 0; g < HISTORY_GROUPS_MAX; g++)
			if (!group || g == wanted)
				v->sensor_ns[i] += h->groups[g].sensor_ns[place(h, i)];
	for (unsigned int s = 0; s < h->count; s++) {
		struct history_channel *c = &v->channels[v->count];

		if (group && h->series[s].group != wanted)
			continue;
		c->channel = h->series[s].of.channel;
		for (int i = 0; i < HISTORY_MINUTES; i++)
			c->minutes[i] = h->series[s].of.minutes[place(h, i)];
		v->count++;
	}
	qsort(v->channels, v->count, sizeof(*v->channels), by_frequency);
	v->count = join(v->channels, v->count);
	return 0;
}

bool history_fill_rate(const struct web_history *h, double *bytes_per_second)
{
	if (!h->disk_size)
		return false;
	for (int i = 0; i < HISTORY_MINUTES; i++) {
		unsigned int at = place(h, i);
		uint64_t us = risen(h->now_us, h->disk[at].time_us);

		if (!h->disk[at].time_us || us < HISTORY_RATE_US)
			continue;
		*bytes_per_second = ((double)h->disk[at].free - (double)h->free_now) * 1e6 / us;
		return true;
	}
	return false;
}
