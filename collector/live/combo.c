// SPDX-License-Identifier: GPL-2.0
/*
 * Live, combos and sensors: see live.h. In: a combo's blocks as in the file. Out: a record, whose
 * packets name their interfaces as the table does.
 */
#include <stddef.h>
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

	r->frames = r->blocks_len = 0;
	for (size_t at = 0; at < len; at += b.len) {
		memcpy(&b, blocks + at, sizeof(b));
		if (!is_shown(l, &b))
			continue;
		r->frames += b.type == BLOCK_PACKET;
		r->blocks_len += b.len;
	}
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

/* Copies a combo whose blocks are all shown, and then overwrites the interfaces. */
static uint32_t all_put(struct live *l, const uint8_t *blocks, size_t len)
{
	const uint32_t head = sizeof(struct live_record);
	struct block b;

	ring_put(l, head, blocks, len);
	for (size_t at = 0; at < len; at += b.len) {
		memcpy(&b, blocks + at, sizeof(b));
		if (has_interface(&b))
			ring_put32(l, head + at + 8, blocks_find(l, b.interface));
	}
	return head + len;
}

/* Almost no combo has a new interface. */
static bool all_are_shown(struct live *l, const struct live_combo *c)
{
	blocks_section(l, c->section);
	if (l->count != c->interfaces)
		interfaces_add(l, c->blocks, c->len);
	else if (!l->hidden)
		return true;
	return false;
}

void live_tick(struct live *l, uint64_t now_ns)
{
	uint32_t awaited = LIVE_AWAITED;

	if (!l->ring || __atomic_load_n(l->wanted, __ATOMIC_RELAXED) != LIVE_AWAITED)
		return;
	l->awaited_ns = l->awaited_ns ?: now_ns + LIVE_AWAITED_NS;
	if (now_ns > l->awaited_ns) /* unless a viewer connects at this moment */
		__atomic_compare_exchange_n(l->wanted, &awaited, LIVE_UNWANTED, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void live_combo(struct live *l, const struct live_combo *c)
{
	struct live_record r = { .sensor = c->sensor, .frames = c->frames, .blocks_len = c->len };
	static const uint64_t zeros;
	bool all;
	uint32_t end;

	if (!l->ring || c->sensor >= LIVE_SENSORS_MAX)
		return;
	all = all_are_shown(l, c);
	if (__atomic_load_n(l->wanted, __ATOMIC_ACQUIRE) == LIVE_UNWANTED) {
		ring_pass(l, c->sensor, c->frames);
		return;
	}
	r.generation = l->generation;
	if (!all)
		measure(l, c->blocks, c->len, &r);
	r.len = (sizeof(r) + r.blocks_len + 7) & ~7u;
	ring_begin(l, &r);
	end = all ? all_put(l, c->blocks, c->len) : blocks_put(l, c->blocks, c->len);
	ring_put(l, end, &zeros, r.len - end);
	ring_end(l, &r, c->frames);
}

void live_block(struct live *l, uint32_t sensor, const uint8_t *block, size_t len)
{
	struct live_record r = { .sensor = sensor, .blocks_len = len, .len = sizeof(r) + len };
	static const uint32_t any = LIVE_ANY;
	static const uint64_t zeros;
	uint32_t end = r.len;

	if (!l->ring || sensor >= LIVE_SENSORS_MAX ||
	    __atomic_load_n(l->wanted, __ATOMIC_ACQUIRE) == LIVE_UNWANTED)
		return;
	r.generation = l->generation;
	r.len = (r.len + 7) & ~7u;
	ring_begin(l, &r);
	ring_put(l, sizeof(r), block, len);
	ring_put(l, sizeof(r) + offsetof(struct block, interface), &any, sizeof(any));
	ring_put(l, end, &zeros, r.len - end);
	ring_end(l, &r, 0);
}

void live_sensors(struct live *l, const struct sensors *list)
{
	unsigned int count = list->count < LIVE_SENSORS_MAX ? list->count : LIVE_SENSORS_MAX;

	if (!l->ring)
		return;
	__atomic_store_n(&l->table->sensors_seq, l->table->sensors_seq + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (unsigned int i = 0; i < count; i++) {
		const struct sensor *s = list->list[i];
		struct live_sensor *shown = live_sensor(l, i);

		snprintf(shown->name, sizeof(shown->name), "%s", s->name);
		snprintf(shown->group, sizeof(shown->group), "%s", s->group_name);
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
