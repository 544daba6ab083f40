// SPDX-License-Identifier: GPL-2.0
/*
 * Live, combos and sensors: see live.h. In: a combo's blocks as in the file. Out: a record, whose
 * packets name their interfaces as the table does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "collector/model/groups_file.h"
#include "collector/model/sensors.h"
#include "common/pcapng_format.h"
#include "live.h"
#include "ring.h"

_Static_assert(SENSOR_NAME_MAX <= LIVE_NAME_MAX && GROUP_NAME_MAX <= LIVE_NAME_MAX, "names fit");

struct block {
	uint32_t type, len, interface;
};

static bool has_interface(const struct block *b)
{
	return b->type == BLOCK_PACKET || b->type == BLOCK_STATISTICS;
}

/* Adds the combo's interfaces to the table. */
static void interfaces_add(struct live *l, const uint8_t *blocks, size_t len)
{
	struct block b;

	for (size_t at = 0; at < len; at += b.len) {
		memcpy(&b, blocks + at, sizeof(b));
		if (b.type == BLOCK_INTERFACE)
			blocks_add(l, blocks + at, b.len);
	}
}

static bool is_shown(const struct live *l, const struct block *b)
{
	return b->type != BLOCK_INTERFACE &&
	       (!has_interface(b) || blocks_find(l, b->interface) != NO_BLOCK);
}

static void measure(const struct live *l, const uint8_t *blocks, size_t len, struct live_record *r)
{
	struct block b;

	for (size_t at = 0; at < len; at += b.len) {
		memcpy(&b, blocks + at, sizeof(b));
		if (!is_shown(l, &b))
			continue;
		r->frames += b.type == BLOCK_PACKET;
		r->blocks_len += b.len;
	}
	r->len = (sizeof(*r) + r->blocks_len + 7) & ~7u;
}

static uint32_t blocks_put(struct live *l, const uint8_t *blocks, size_t len)
{
	uint32_t to = sizeof(struct live_record);
	struct block b;

	for (size_t at = 0; at < len; at += b.len) {
		memcpy(&b, blocks + at, sizeof(b));
		if (!is_shown(l, &b))
			continue;
		if (has_interface(&b))
			b.interface = blocks_find(l, b.interface);
		ring_put(l, to, &b, sizeof(b));
		ring_put(l, to + sizeof(b), blocks + at + sizeof(b), b.len - sizeof(b));
		to += b.len;
	}
	return to;
}

void live_combo(struct live *l, unsigned int section, uint32_t sensor, const uint8_t *blocks,
		size_t len, uint32_t frames)
{
	struct live_record r = { .sensor = sensor };
	static const uint64_t zeros;
	uint32_t end;

	if (!l->ring || sensor >= LIVE_SENSORS_MAX)
		return;
	blocks_section(l, section);
	interfaces_add(l, blocks, len);
	r.generation = l->generation;
	measure(l, blocks, len, &r);
	ring_begin(l, &r);
	end = blocks_put(l, blocks, len);
	ring_put(l, end, &zeros, r.len - end);
	ring_end(l, &r, frames);
}

void live_sensors(struct live *l, const struct sensors *list, const struct groups_file *groups)
{
	unsigned int count = list->count < LIVE_SENSORS_MAX ? list->count : LIVE_SENSORS_MAX;

	if (!l->ring)
		return;
	__atomic_store_n(&l->table->sensors_seq, l->table->sensors_seq + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (unsigned int i = 0; i < count; i++) {
		const struct sensor *s = list->list[i];
		struct live_sensor *shown = live_sensor(l, i);
		const char *group = s->group && s->group <= groups->groups_count
					    ? groups->groups[s->group - 1].name
					    : "";

		snprintf(shown->name, sizeof(shown->name), "%s", s->name);
		snprintf(shown->group, sizeof(shown->group), "%s", group);
		shown->id = s->id;
		shown->listed = s->listed;
	}
	l->table->sensors = count;
	__atomic_store_n(&l->table->sensors_seq, l->table->sensors_seq + 1, __ATOMIC_RELEASE);
}

void live_free(struct live *l)
{
	free(l->blocks);
	l->blocks = NULL;
}
