// SPDX-License-Identifier: GPL-2.0
/* Sensors: see sensors.h. */
#include "sensors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"

enum { IF_DESCRIPTION = 3, IF_OS = 12, IF_HARDWARE = 15, ISB_DROPPED = 5, ISB_OS_DROPPED = 7 };

/* Makes room for one more. */
static int grow(void **list, uint32_t count, uint32_t *room, size_t size)
{
	uint32_t more = 2 * *room + 16;
	void *p;

	if (count < *room)
		return 0;
	p = realloc(*list, more * size);
	if (!p)
		return -ENOMEM;
	*list = p;
	*room = more;
	return 0;
}

static uint32_t *bucket(struct sensors *s, const char *name, uint16_t id)
{
	uint32_t hash = 2166136261u ^ id; /* FNV-1a */

	while (*name)
		hash = (hash ^ (uint8_t)*name++) * 16777619u;
	return &s->buckets[(hash ^ hash >> 16) % SENSORS_BUCKETS];
}

/* Files of two collectors may have the same id for different sensors. */
static uint16_t give_number(struct sensors *s, uint16_t id)
{
	uint32_t n = id;

	if (!id || s->numbers[id / 64] >> id % 64 & 1)
		for (n = 65535; n && s->numbers[n / 64] >> n % 64 & 1; n--)
			;
	s->numbers[n / 64] |= 1ULL << n % 64;
	return n;
}

/* Returns the sensor's index, -1 if there are too many, or -ENOMEM. */
static int64_t sensor_of(struct sensors *s, const char *name, uint16_t id)
{
	uint32_t *first = bucket(s, name, id);
	struct input_sensor *new;

	for (uint32_t i = *first; i; i = s->list[i - 1].same)
		if (s->list[i - 1].id == id && !strcmp(s->list[i - 1].name, name))
			return i - 1;
	if (s->count == SENSORS_MAX)
		return -1;
	if (grow((void **)&s->list, s->count, &s->room, sizeof(*s->list)))
		return -ENOMEM;
	new = &s->list[s->count];
	*new = (struct input_sensor){ .id = id, .number = give_number(s, id), .same = *first };
	snprintf(new->name, sizeof(new->name), "%s", name);
	*first = s->count + 1;
	return s->count++;
}

/* Copies the options with text, which have no byte order. */
static int copy_options(struct input_radio *r, struct pcapng_block b)
{
	uint8_t *p = malloc(RADIO_OPTIONS_MAX);
	struct pcapng_option o;

	if (!p)
		return -ENOMEM;
	r->options = p;
	while (pcapng_option(&b, &o)) {
		uint16_t head[2] = { o.code, o.len };
		size_t padded = (o.len + 3u) & ~3u;

		if ((o.code > IF_DESCRIPTION && o.code != IF_HARDWARE && o.code != IF_OS) ||
		    p + 4 + padded > r->options + RADIO_OPTIONS_MAX)
			continue;
		memcpy(p, head, 4);
		memset(p + 4, 0, padded);
		memcpy(p + 4, o.value, o.len);
		p += 4 + padded;
		r->options_len = p - r->options;
	}
	return 0;
}

/* Returns the radio's index, -1 if the sensor has too many, or -ENOMEM. */
static int64_t radio_of(struct sensors *s, uint32_t sensor, const char *name, uint16_t linktype,
			const struct pcapng_block *b)
{
	struct input_sensor *of = &s->list[sensor];
	int64_t index;

	for (uint8_t i = 0; i < of->radios; i++)
		if (s->radios[of->radio[i]].linktype == linktype &&
		    !strcmp(s->radios[of->radio[i]].name, name))
			return of->radio[i];
	if (of->radios == RADIOS_EACH) {
		if (!of->full)
			log_line("%s: has more than %d interfaces; frames of the others are left "
				 "out",
				 of->name, RADIOS_EACH);
		of->full = true;
		return -1;
	}
	if (grow((void **)&s->radios, s->radio_count, &s->radio_room, sizeof(*s->radios)))
		return -ENOMEM;
	index = merge_add_radio(s->merge, sensor, of->radios);
	if (index < 0)
		return index;
	of->radio[of->radios] = index;
	s->radios[index] = (struct input_radio){ .sensor = sensor,
						 .linktype = linktype,
						 .number = of->radios++ };
	snprintf(s->radios[index].name, sizeof(s->radios->name), "%s", name);
	s->radio_count++;
	return copy_options(&s->radios[index], *b) ?: index;
}

/* "library-1:wlan0" is the sensor library-1. The end of a long path tells more than its
 * beginning. */
static void sensor_name(char *out, size_t size, const char *interface, const char *file)
{
	const char *colon = strchr(interface, ':');
	size_t len = strlen(file);

	if (colon && colon != interface)
		snprintf(out, size, "%.*s", (int)(colon - interface), interface);
	else
		snprintf(out, size, "%s", len < size ? file : file + len - size + 1);
}

/* A sensor that is moved while the merge runs stays where it was: all mergers must agree. */
static void set_floor(struct sensors *s, struct input_sensor *of, const char *comment)
{
	int32_t floor;

	if (of->floor.known || !pcapng_floor(comment, &floor))
		return;
	of->floor = (struct slice_floor){ true, floor };
	s->any_floor = true;
}

/* Whether an interface's frames are left to other mergers. Frames from before the input said the
 * floor are in all slices' clocks. */
static bool leaves(struct sensors *s, int64_t sensor, const char *comment)
{
	if (sensor < 0 || !s->slice)
		return false;
	set_floor(s, &s->list[sensor], comment);
	return !slice_is_near(s->slice, s->list[sensor].floor);
}

int sensors_interface(struct sensors *s, struct input_section *to, struct pcapng_block *b,
		      const char *file)
{
	struct pcapng_block copy = *b;
	struct pcapng_interface i;
	char name[sizeof(s->list->name)];
	unsigned int id = 0;
	int64_t sensor, radio;
	bool left;

	pcapng_interface(&copy, &i);
	if (!pcapng_sensor(i.description, name, sizeof(name), &id))
		id = 0;
	sensor_name(name, sizeof(name), i.name, file);
	sensor = sensor_of(s, name, id);
	if (sensor == -ENOMEM || grow((void **)&to->of, to->count, &to->room, sizeof(*to->of)))
		return -ENOMEM;
	left = leaves(s, sensor, i.comment);
	radio = sensor >= 0 && !left && (s->all || i.linktype == SENSORS_RADIOTAP)
			? radio_of(s, sensor, i.name, i.linktype, b)
			: -1;
	if (radio == -ENOMEM)
		return -ENOMEM;
	to->of[to->count++] = (struct input_interface){ .radio = radio,
							.linktype = i.linktype,
							.left = left,
							.ticks = i.ticks,
							.offset_s = i.offset_s,
							.sensor = sensor < 0 ? 0 : sensor };
	return 0;
}

static uint64_t number(const struct pcapng_block *b, const struct pcapng_option *o)
{
	uint64_t v;

	if (o->len != 8)
		return 0;
	memcpy(&v, o->value, 8);
	return b->swapped ? __builtin_bswap64(v) : v;
}

uint64_t sensors_missed(struct input_section *section, const struct pcapng_block *b)
{
	struct pcapng_block copy = *b;
	struct pcapng_option o;
	uint64_t all = 0, more;

	if (b->interface >= section->count || section->of[b->interface].left)
		return 0;
	while (pcapng_option(&copy, &o))
		if (o.code == ISB_DROPPED || o.code == ISB_OS_DROPPED)
			all += number(b, &o);
	more = all > section->of[b->interface].missed ? all - section->of[b->interface].missed : 0;
	section->of[b->interface].missed += more;
	return more;
}

void sensors_section_free(struct input_section *section)
{
	free(section->of);
	*section = (struct input_section){ .of = NULL };
}

void sensors_free(struct sensors *s)
{
	for (uint32_t i = 0; i < s->radio_count; i++)
		free(s->radios[i].options);
	free(s->list);
	free(s->radios);
	s->list = NULL;
	s->radios = NULL;
	s->count = s->radio_count = 0;
}
