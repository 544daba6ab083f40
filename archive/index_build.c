// SPDX-License-Identifier: GPL-2.0
/* Index build: see index_build.h. */
#include "index_build.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "index_format.h"
#include "index_gathered.h"
#include "index_lay.h"
#include "wire/bytes.h"

#define NOT_YET UINT32_MAX

/* Doubles an array's room when it is full. Returns 0 or -ENOMEM. */
static int grow(void **list, uint32_t count, uint32_t *room, size_t each)
{
	uint32_t more = *room ? 2 * *room : 64;
	void *longer;

	if (count < *room)
		return 0;
	longer = realloc(*list, more * each);
	if (!longer)
		return -ENOMEM;
	*list = longer;
	*room = more;
	return 0;
}

struct index_build *index_build_new(void)
{
	struct index_build *b = calloc(1, sizeof(*b));

	if (!b || getrandom(&b->secret, sizeof(b->secret), 0) != sizeof(b->secret)) {
		free(b);
		return NULL;
	}
	b->secret |= 1;
	b->first_ns = INT64_MAX;
	b->last_ns = INT64_MIN;
	return b;
}

static void sensor_free(void *sensor)
{
	free(((struct index_sensor_built *)sensor)->chunks.list);
	free(sensor);
}

void index_build_free(struct index_build *b)
{
	if (!b)
		return;
	tdestroy(b->sensors_by_name, sensor_free);
	tdestroy(b->runs_by_name, free);
	free(b->describing.list);
	free(b->chunks);
	free(b->sensors);
	free(b->runs);
	free(b->addresses);
	free(b->slots);
	free(b->places);
	free(b);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Notes the present chunk, unless it was noted last. */
static int note_chunk(const struct index_build *b, struct index_chunks *c)
{
	uint32_t chunk = b->chunk_count - 1;
	int err;

	if (c->count && c->list[c->count - 1] == chunk)
		return 0;
	err = grow((void **)&c->list, c->count, &c->room, sizeof(*c->list));
	if (!err)
		c->list[c->count++] = chunk;
	return err;
}

int index_block(struct index_build *b, uint64_t at, bool describes)
{
	int err = 0;

	if (!b->chunk_count || at - b->chunks[b->chunk_count - 1].at >= INDEX_CHUNK) {
		err = grow((void **)&b->chunks, b->chunk_count, &b->chunk_room, sizeof(*b->chunks));
		if (!err)
			b->chunks[b->chunk_count++] = (struct index_chunk){ .at = at,
									    .first_ns = INT64_MAX,
									    .last_ns = INT64_MIN };
	}
	return err || !describes ? err : note_chunk(b, &b->describing);
}

static void widen(int64_t *first_ns, int64_t *last_ns, int64_t ns)
{
	if (ns < *first_ns)
		*first_ns = ns;
	if (ns > *last_ns)
		*last_ns = ns;
}

void index_frame(struct index_build *b, int64_t ns)
{
	struct index_chunk *c = &b->chunks[b->chunk_count - 1];

	b->frames++;
	widen(&b->first_ns, &b->last_ns, ns);
	widen(&c->first_ns, &c->last_ns, ns);
}

/* ---- sensors --------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct index_sensor_built *one = a, *other = b;

	return strcmp(one->of.name, other->of.name) ?: strcmp(one->of.group, other->of.group);
}

int index_sensor(struct index_build *b, const char *name, const char *group, uint16_t id)
{
	struct index_sensor_built *s, **found;

	if (grow((void **)&b->sensors, b->sensor_count, &b->sensor_room, sizeof(*b->sensors)))
		return -ENOMEM;
	s = malloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct index_sensor_built){
		.of = { .id = id, .first_ns = INT64_MAX, .last_ns = INT64_MIN },
		.number = b->sensor_count,
	};
	memcpy(s->of.name, name, strnlen(name, INDEX_NAME_MAX - 1));
	memcpy(s->of.group, group, strnlen(group, INDEX_NAME_MAX - 1));
	found = tsearch(s, &b->sensors_by_name, by_name);
	if (!found || *found != s) {
		free(s);
		return found ? (int)(*found)->number : -ENOMEM;
	}
	b->sensors[b->sensor_count] = s;
	return b->sensor_count++;
}

int index_heard(struct index_build *b, int sensor, int64_t ns)
{
	struct index_sensor_built *s = b->sensors[sensor];

	s->of.frames++;
	widen(&s->of.first_ns, &s->of.last_ns, ns);
	return note_chunk(b, &s->chunks);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static int by_run(const void *a, const void *b)
{
	const struct index_run *one = a, *other = b;

	if (one->sensor != other->sensor)
		return one->sensor < other->sensor ? -1 : 1;
	return one->run < other->run ? -1 : one->run > other->run;
}

/* Most combos are of their sensor's newest run. */
static struct index_run *run_find(struct index_build *b, const struct index_run *run)
{
	uint32_t newest = b->newest[run->sensor];
	struct index_run **found;

	if (!newest)
		return NULL;
	if (b->runs[newest - 1]->run == run->run)
		return b->runs[newest - 1];
	found = tfind(run, &b->runs_by_name, by_run);
	return found ? *found : NULL;
}

static int run_add(struct index_build *b, const struct index_run *run)
{
	struct index_run *r;

	if (grow((void **)&b->runs, b->run_count, &b->run_room, sizeof(*b->runs)))
		return -ENOMEM;
	r = malloc(sizeof(*r));
	if (!r)
		return -ENOMEM;
	*r = *run;
	if (!tsearch(r, &b->runs_by_name, by_run)) {
		free(r);
		return -ENOMEM;
	}
	b->runs[b->run_count++] = r;
	b->newest[run->sensor] = b->run_count;
	return 0;
}

int index_combo(struct index_build *b, const struct index_run *run)
{
	struct index_run *r = run_find(b, run);

	if (!r)
		return run_add(b, run);
	if (run->next > r->next)
		r->next = run->next;
	if (run->accounted > r->accounted)
		r->accounted = run->accounted;
	return 0;
}

/* ---- addresses ------------------------------------------------------------------------------- */

static uint32_t slot_of(const struct index_build *b, uint64_t address)
{
	uint64_t h = address * b->secret;

	h = (h ^ h >> 32) * b->secret;
	return (h ^ h >> 29) & (b->slot_count - 1);
}

/* Twice as many slots as there can be addresses before the next call. */
static int rehash(struct index_build *b)
{
	uint32_t count = b->slot_count ? 2 * b->slot_count : 1024;
	uint32_t *slots = malloc(count * sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	memset(slots, 0xff, count * sizeof(*slots));
	free(b->slots);
	b->slots = slots;
	b->slot_count = count;
	for (uint32_t i = 0; i < b->address_count; i++) {
		uint32_t slot = slot_of(b, b->addresses[i].address);

		while (slots[slot] != NOT_YET)
			slot = (slot + 1) & (count - 1);
		slots[slot] = i;
	}
	return 0;
}

/* Returns the address's number, -ENOMEM, or -E2BIG. */
static int address_number(struct index_build *b, uint64_t address)
{
	uint32_t slot;
	int err = 0;

	if (2 * b->address_count >= b->slot_count)
		err = rehash(b);
	if (err)
		return err;
	slot = slot_of(b, address);
	for (; b->slots[slot] != NOT_YET; slot = (slot + 1) & (b->slot_count - 1))
		if (b->addresses[b->slots[slot]].address == address)
			return b->slots[slot];
	if (b->address_count == INDEX_ADDRESSES_MAX)
		return -E2BIG;
	if (grow((void **)&b->addresses, b->address_count, &b->address_room, sizeof(*b->addresses)))
		return -ENOMEM;
	b->addresses[b->address_count] =
		(struct index_address){ .address = address, .chunk = NOT_YET };
	b->slots[slot] = b->address_count;
	return b->address_count++;
}

int index_address(struct index_build *b, const uint8_t address[6])
{
	uint64_t value = load_be(address, INDEX_ADDRESS_LEN);
	uint32_t chunk = b->chunk_count - 1;
	int number = address_number(b, value);

	if (number == -E2BIG || b->place_count == INDEX_PLACES_MAX)
		b->too_many = true;
	if (number < 0 || b->too_many)
		return number == -ENOMEM ? number : 0;
	if (b->addresses[number].chunk == chunk)
		return 0;
	if (grow((void **)&b->places, b->place_count, &b->place_room, sizeof(*b->places)))
		return -ENOMEM;
	b->addresses[number].chunk = chunk;
	b->addresses[number].places++;
	b->places[b->place_count++] = (struct index_place){ .address = number, .chunk = chunk };
	return 0;
}

uint64_t index_frames(const struct index_build *b)
{
	return b->frames;
}

int index_finish(struct index_build *b, const struct index_head *head, uint8_t **bytes, size_t *len)
{
	struct index_head h = *head;

	h.all_addresses = !b->too_many;
	h.frames = b->frames;
	h.first_ns = b->frames ? b->first_ns : 0;
	h.last_ns = b->frames ? b->last_ns : 0;
	return index_lay(b, &h, bytes, len);
}
