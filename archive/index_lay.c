// SPDX-License-Identifier: GPL-2.0
/* Index lay: see index_lay.h. */
#include "index_lay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "index_format.h"
#include "wire/bytes.h"

static void add_le(struct bytes *t, uint64_t v, int bytes)
{
	uint8_t le[8];

	store_le(le, v, bytes);
	bytes_put(t, le, bytes);
}

static void add_varint(struct bytes *t, uint64_t v)
{
	uint8_t *p = bytes_reserve(t, VARINT_MAX);

	if (p)
		t->len += store_varint(p, v);
}

static void add_name(struct bytes *t, const char *name)
{
	add_varint(t, strlen(name));
	bytes_put(t, name, strlen(name));
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* Chunks come one by one, in order. */
struct ranges {
	struct bytes text;
	uint32_t from, to; /* the present range; empty before the first one */
	uint32_t before;   /* the end of the range before it */
};

static void range_end(struct ranges *r)
{
	if (r->from == r->to)
		return;
	add_varint(&r->text, r->from - r->before);
	add_varint(&r->text, r->to - r->from);
	r->before = r->to;
}

static void ranges_chunk(struct ranges *r, uint32_t chunk)
{
	if (chunk != r->to || r->from == r->to) {
		range_end(r);
		r->from = chunk;
	}
	r->to = chunk + 1;
}

/* Adds them to `t`, and begins anew. */
static void ranges_end(struct ranges *r, struct bytes *t)
{
	range_end(r);
	add_varint(t, r->text.len);
	bytes_put(t, r->text.data, r->text.len);
	t->failed |= r->text.failed;
	r->text.len = 0;
	r->from = r->to = r->before = 0;
}

static void lay_chunks_of(struct bytes *t, struct ranges *r, const struct index_chunks *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		ranges_chunk(r, c->list[i]);
	ranges_end(r, t);
}

/* ---- sections -------------------------------------------------------------------------------- */

static void lay_head(struct bytes *t, const struct index_head *h)
{
	bytes_put(t, INDEX_MAGIC, INDEX_MAGIC_LEN);
	add_le(t, INDEX_VERSION, 4);
	add_le(t, 0, 8); /* the hash */
	add_le(t,
	       (h->all_addresses ? INDEX_FLAG_ALL_ADDRESSES : 0) |
		       (h->is_merged ? INDEX_FLAG_IS_MERGED : 0),
	       4);
	add_le(t, h->tables, 8);
	add_le(t, h->pcapng_bytes, 8);
	add_le(t, h->file_bytes, 8);
	add_le(t, h->end, 4);
	add_le(t, h->first_ns, 8);
	add_le(t, h->last_ns, 8);
	add_le(t, h->frames, 8);
}

/* Returns the span + 1. Stamps may be anything. */
static uint64_t span_of(int64_t first_ns, int64_t last_ns)
{
	uint64_t span = (uint64_t)last_ns - (uint64_t)first_ns;

	return span == UINT64_MAX ? span : span + 1;
}

static void lay_chunks(struct bytes *t, const struct index_build *b, const struct index_head *h)
{
	uint64_t before = 0;

	add_varint(t, b->chunk_count);
	for (uint32_t i = 0; i < b->chunk_count; i++) {
		const struct index_chunk *c = &b->chunks[i];
		bool frames = c->last_ns >= c->first_ns;

		add_varint(t, c->at - before);
		add_varint(t, frames ? span_of(c->first_ns, c->last_ns) : 0);
		if (frames)
			add_varint(t, (uint64_t)c->first_ns - (uint64_t)h->first_ns);
		before = c->at;
	}
}

static void lay_sensors(struct bytes *t, struct ranges *r, const struct index_build *b,
			const struct index_head *h)
{
	add_varint(t, b->sensor_count);
	for (uint32_t i = 0; i < b->sensor_count; i++) {
		const struct index_sensor *s = &b->sensors[i]->of;
		bool frames = s->frames;

		add_varint(t, s->id);
		add_name(t, s->name);
		add_name(t, s->group);
		add_varint(t, s->frames);
		add_varint(t, frames ? (uint64_t)s->first_ns - (uint64_t)h->first_ns : 0);
		add_varint(t, frames ? (uint64_t)s->last_ns - (uint64_t)s->first_ns : 0);
		lay_chunks_of(t, r, &b->sensors[i]->chunks);
	}
}

static void lay_runs(struct bytes *t, const struct index_build *b)
{
	add_varint(t, b->run_count);
	for (uint32_t i = 0; i < b->run_count; i++) {
		const struct index_run *r = b->runs[i];

		add_varint(t, r->sensor);
		add_varint(t, r->run);
		add_varint(t, r->next);
		add_varint(t, r->accounted);
	}
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* The addresses in order, and each one's chunks. */
struct sorted {
	struct index_address *list; /* `chunk`: the number before sorting */
	uint32_t *begins;	    /* by number before sorting: of the chunks in `chunks` */
	uint32_t *chunks;
};

static int compare(const void *a, const void *b)
{
	uint64_t one = ((const struct index_address *)a)->address;
	uint64_t other = ((const struct index_address *)b)->address;

	return one < other ? -1 : one > other;
}

static void sorted_free(struct sorted *s)
{
	free(s->list);
	free(s->begins);
	free(s->chunks);
}

/* Places are by chunk, so that each address's stay in order. */
static int sort(const struct index_build *b, struct sorted *s)
{
	uint32_t begin = 0;

	s->list = malloc((b->address_count + 1) * sizeof(*s->list));
	s->begins = malloc((b->address_count + 1) * sizeof(*s->begins));
	s->chunks = malloc((b->place_count + 1) * sizeof(*s->chunks));
	if (!s->list || !s->begins || !s->chunks)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->address_count; i++) {
		s->list[i] = b->addresses[i];
		s->list[i].chunk = i;
		s->begins[i] = begin;
		begin += b->addresses[i].places;
	}
	for (uint32_t i = 0; i < b->place_count; i++)
		s->chunks[s->begins[b->places[i].address]++] = b->places[i].chunk;
	qsort(s->list, b->address_count, sizeof(*s->list), compare);
	return 0;
}

static void lay_sorted(struct bytes *t, struct ranges *r, const struct index_build *b,
		       const struct sorted *s)
{
	uint32_t count = b->address_count, step = 0;
	struct bytes lists = { .data = NULL };
	uint8_t address[INDEX_ADDRESS_LEN];

	add_varint(t, count);
	for (uint32_t i = 0; i < count; i++) {
		store_be(address, s->list[i].address, sizeof(address));
		bytes_put(t, address, sizeof(address));
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct index_address *a = &s->list[i];

		if (step++ % INDEX_STEP == 0)
			add_le(t, lists.len, 4);
		/* The begin has moved to the end while the chunks were put there. */
		for (uint32_t n = s->begins[a->chunk] - a->places; n < s->begins[a->chunk]; n++)
			ranges_chunk(r, s->chunks[n]);
		ranges_end(r, &lists);
	}
	bytes_put(t, lists.data, lists.len);
	t->failed |= lists.failed;
	free(lists.data);
}

static int lay_addresses(struct bytes *t, struct ranges *r, const struct index_build *b)
{
	struct sorted s = { .list = NULL };
	int err = sort(b, &s);

	if (!err)
		lay_sorted(t, r, b, &s);
	sorted_free(&s);
	return err;
}

int index_lay(const struct index_build *b, const struct index_head *head, uint8_t **bytes,
	      size_t *len)
{
	struct bytes t = { .data = NULL };
	struct ranges r = { .from = 0 };
	int err;

	lay_head(&t, head);
	lay_chunks(&t, b, head);
	lay_chunks_of(&t, &r, &b->describing);
	lay_sensors(&t, &r, b, head);
	lay_runs(&t, b);
	err = lay_addresses(&t, &r, b);
	free(r.text.data);
	if (err || t.failed) {
		free(t.data);
		return -ENOMEM;
	}
	store_le(t.data + INDEX_HASHED_AT - 8,
		 index_hash(t.data + INDEX_HASHED_AT, t.len - INDEX_HASHED_AT), 8);
	*bytes = t.data;
	*len = t.len;
	return 0;
}
