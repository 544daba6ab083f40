// SPDX-License-Identifier: GPL-2.0
/* Index cursors: see index_read.h. What they read is well-formed: index_read.c has walked it. */
#include <string.h>

#include "index_format.h"
#include "index_read.h"
#include "wire/bytes.h"

/* Reads a number that check() has seen. */
static uint64_t number(struct index_cursor *c)
{
	uint64_t v = 0;

	load_varint(&c->at, c->of->bytes + c->of->len, &v);
	return v;
}

static struct index_cursor ranges_at(const struct index *x, const uint8_t *at)
{
	struct index_cursor c = { .of = x, .at = at };
	uint64_t len = number(&c);

	c.left = len;
	return c;
}

struct index_cursor index_describing(const struct index *x)
{
	return ranges_at(x, x->bytes + x->describing);
}

bool index_range_next(struct index_cursor *c, struct index_range *r)
{
	const uint8_t *before = c->at;

	if (!c->left)
		return false;
	r->from = c->chunk + number(c);
	r->to = c->chunk = r->from + number(c);
	c->left -= c->at - before;
	return true;
}

struct index_cursor index_sensors(const struct index *x)
{
	return (struct index_cursor){ .of = x,
				      .at = x->bytes + x->sensors,
				      .left = x->sensor_count };
}

static void read_name(struct index_cursor *c, char name[INDEX_NAME_MAX])
{
	uint64_t len = number(c);

	memcpy(name, c->at, len);
	name[len] = 0;
	c->at += len;
}

bool index_sensor_next(struct index_cursor *c, struct index_sensor *s, struct index_cursor *heard)
{
	if (!c->left)
		return false;
	c->left--;
	s->id = number(c);
	read_name(c, s->name);
	read_name(c, s->group);
	s->frames = number(c);
	s->first_ns = (int64_t)((uint64_t)c->of->head.first_ns + number(c));
	s->last_ns = (int64_t)((uint64_t)s->first_ns + number(c));
	*heard = ranges_at(c->of, c->at);
	c->at = heard->at + heard->left;
	return true;
}

struct index_cursor index_runs(const struct index *x)
{
	return (struct index_cursor){ .of = x, .at = x->bytes + x->runs, .left = x->run_count };
}

bool index_run_next(struct index_cursor *c, struct index_run *r)
{
	if (!c->left)
		return false;
	c->left--;
	r->sensor = number(c);
	r->run = number(c);
	r->next = number(c);
	r->accounted = number(c);
	return true;
}

/* Returns where an address's ranges are. */
static const uint8_t *ranges_of(const struct index *x, uint32_t address)
{
	const uint8_t *begins =
		x->bytes + x->addresses + (size_t)x->address_count * INDEX_ADDRESS_LEN;
	const uint8_t *at = begins + 4 * (size_t)index_steps(x->address_count) +
			    load_le32(begins + 4 * (size_t)(address / INDEX_STEP));

	for (uint32_t i = address % INDEX_STEP; i; i--) {
		struct index_cursor c = ranges_at(x, at);

		at = c.at + c.left;
	}
	return at;
}

bool index_find(const struct index *x, const uint8_t address[6], struct index_cursor *in)
{
	const uint8_t *of = x->bytes + x->addresses;
	uint32_t from = 0, to = x->address_count;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;
		int order =
			memcmp(of + (size_t)middle * INDEX_ADDRESS_LEN, address, INDEX_ADDRESS_LEN);

		if (!order) {
			*in = ranges_at(x, ranges_of(x, middle));
			return true;
		}
		if (order < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return false;
}
