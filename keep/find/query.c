// SPDX-License-Identifier: GPL-2.0
/* Query: see query.h. */
#include "query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dissect/dissect.h"

/* Reads six groups of one or two hexadecimal digits, with ':' or '-' between all of them. */
static int read_address(uint8_t address[6], const char *text)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	char separator = 0;

	for (int i = 0; i < 6; i++) {
		size_t len = strspn(text, digits);

		if (len < 1 || len > 2)
			return -EINVAL;
		address[i] = strtoul(text, NULL, 16); /* ends at the separator */
		text += len;
		if (!i)
			separator = *text == '-' ? '-' : ':';
		if (*text != (i < 5 ? separator : 0))
			return -EINVAL;
		text++;
	}
	return 0;
}

int query_address(struct query *q, const char *text)
{
	int err;

	if (q->address_count == QUERY_WORDS_MAX)
		return -E2BIG;
	err = read_address(q->addresses[q->address_count], text);
	if (!err)
		q->address_count++;
	return err;
}

static bool is_one(const char *word, const char *const *list, bool *seen, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (!strcmp(list[i], word))
			return seen[i] = true;
	return false;
}

bool query_sensor(struct query *q, const char *name, const char *group)
{
	bool is_named = is_one(name, q->sensors, q->sensor_seen, q->sensor_count);
	bool is_grouped = *group && is_one(group, q->groups, q->group_seen, q->group_count);

	return (!q->sensor_count && !q->group_count) || is_named || is_grouped;
}

/* ---- an index -------------------------------------------------------------------------------- */

enum { BY_TIME = 1, BY_SENSOR = 2, BY_ADDRESS = 4, BY_ALL = 7 };

static void mark(uint8_t *wanted, struct index_cursor in, uint8_t bit)
{
	struct index_range r;

	while (index_range_next(&in, &r))
		for (uint32_t i = r.from; i < r.to; i++)
			wanted[i] |= bit;
}

static void mark_all(uint8_t *wanted, const struct index *x, uint8_t bit)
{
	for (uint32_t i = 0; i < x->chunk_count; i++)
		wanted[i] |= bit;
}

static void mark_times(const struct query *q, const struct index *x, uint8_t *wanted)
{
	for (uint32_t i = 0; i < x->chunk_count; i++) {
		const struct index_chunk *c = &x->chunks[i];

		if (c->first_ns <= c->last_ns && c->first_ns < q->to_ns && c->last_ns >= q->from_ns)
			wanted[i] |= BY_TIME;
	}
}

/* Counts ranges at their ends. */
static void count_ends(uint32_t *begun, struct index_cursor in)
{
	struct index_range r;

	while (index_range_next(&in, &r)) {
		begun[r.from]++;
		begun[r.to]--;
	}
}

/* Ranges of many sensors can overlap, so that marking one after the other takes too long. Without
 * memory, all chunks are wanted. */
static void mark_sensors(struct query *q, const struct index *x, uint8_t *wanted)
{
	uint32_t *begun = calloc((size_t)x->chunk_count + 1, sizeof(*begun)), ranges = 0;
	struct index_cursor c = index_sensors(x), heard;
	struct index_sensor s;

	if (!begun) {
		mark_all(wanted, x, BY_SENSOR);
		return;
	}
	while (index_sensor_next(&c, &s, &heard))
		if (query_sensor(q, s.name, s.group))
			count_ends(begun, heard);
	for (uint32_t i = 0; i < x->chunk_count; i++) {
		ranges += begun[i];
		wanted[i] |= ranges ? BY_SENSOR : 0;
	}
	free(begun);
}

static void mark_addresses(const struct query *q, const struct index *x, uint8_t *wanted)
{
	struct index_cursor in;

	for (unsigned int i = 0; i < q->address_count; i++)
		if (index_find(x, q->addresses[i], &in))
			mark(wanted, in, BY_ADDRESS);
}

bool query_index(struct query *q, const struct index *x, uint8_t *wanted)
{
	bool any = false;

	memset(wanted, 0, x->chunk_count);
	mark_times(q, x, wanted);
	if (q->address_count && x->head.all_addresses)
		mark_addresses(q, x, wanted);
	else
		mark_all(wanted, x, BY_ADDRESS);
	if (q->sensor_count || q->group_count)
		mark_sensors(q, x, wanted);
	else
		mark_all(wanted, x, BY_SENSOR);
	for (uint32_t i = 0; i < x->chunk_count; i++) {
		wanted[i] = wanted[i] == BY_ALL;
		any |= wanted[i];
	}
	return any;
}

/* ---- a frame --------------------------------------------------------------------------------- */

static bool has_address(const struct query *q, uint16_t linktype, const struct pcapng_block *b)
{
	const uint8_t *list[DISSECT_ADDRESSES_MAX];
	struct dissection d;
	unsigned int count;

	dissect_frame(&d, linktype, b->frame, b->kept, b->whole);
	count = dissect_addresses(&d, list);
	for (unsigned int i = 0; i < count; i++)
		for (unsigned int n = 0; n < q->address_count; n++)
			if (!memcmp(list[i], q->addresses[n], 6))
				return true;
	return false;
}

bool query_frame(struct query *q, bool heard, int64_t ns, uint16_t linktype,
		 const struct pcapng_block *b)
{
	return heard && ns >= q->from_ns && ns < q->to_ns &&
	       (!q->address_count || has_address(q, linktype, b)) &&
	       expression_match(&q->expression, linktype, b->frame, b->kept, b->whole);
}
