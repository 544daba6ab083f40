// SPDX-License-Identifier: GPL-2.0
/* Records: see records.h. */
#include "records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHAINS 65536
#define SIZE_MIN 1024

int records_init(struct records *r)
{
	*r = (struct records){ .first = RECORDS_NONE, .last = RECORDS_NONE };
	r->heads = malloc(CHAINS * sizeof(*r->heads));
	if (!r->heads)
		return -ENOMEM;
	for (int i = 0; i < CHAINS; i++)
		r->heads[i] = RECORDS_NONE;
	return 0;
}

/* FNV-1a. Who can choose keys can write anything into the topic. */
static uint32_t chain_of(const uint8_t *key, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < len; i++)
		h = (h ^ key[i]) * 0x100000001b3ULL;
	return (h ^ h >> 32) % CHAINS;
}

static uint32_t find(const struct records *r, const void *key, size_t len)
{
	uint32_t i = r->heads[chain_of(key, len)];

	while (i != RECORDS_NONE &&
	       (r->list[i].key_len != len || memcmp(r->list[i].key, key, len) != 0))
		i = r->list[i].next;
	return i;
}

static int grow(struct records *r)
{
	uint32_t size = r->size ? r->size * 2 : SIZE_MIN;
	struct record *more = realloc(r->list, size * sizeof(*more));

	if (!more)
		return -ENOMEM;
	r->list = more;
	r->size = size;
	return 0;
}

/* Returns its index, or RECORDS_NONE without room. */
static uint32_t add(struct records *r, const void *key, size_t len)
{
	uint32_t *head = &r->heads[chain_of(key, len)];

	if (r->count == RECORDS_MAX || (r->count == r->size && grow(r)))
		return RECORDS_NONE;
	r->list[r->count] = (struct record){ .key_len = len, .next = *head };
	memcpy(r->list[r->count].key, key, len);
	*head = r->count;
	return r->count++;
}

static void queue(struct records *r, uint32_t i)
{
	if (r->list[i].queued)
		return;
	r->list[i].queued = true;
	r->list[i].follow = RECORDS_NONE;
	if (r->last == RECORDS_NONE)
		r->first = i;
	else
		r->list[r->last].follow = i;
	r->last = i;
}

static int over(struct records *r)
{
	r->over++;
	return -ENOSPC;
}

int records_put(struct records *r, const void *key, size_t key_len, const void *value,
		size_t value_len, uint64_t time_ms)
{
	uint32_t i = find(r, key, key_len);
	uint64_t had = i == RECORDS_NONE ? 0 : r->list[i].value_len;
	uint8_t *copy;

	if (r->bytes - had + value_len > RECORDS_BYTES)
		return over(r);
	copy = malloc(value_len + 1);
	if (copy && i == RECORDS_NONE)
		i = add(r, key, key_len);
	if (!copy || i == RECORDS_NONE) {
		free(copy);
		return over(r);
	}
	if (value_len)
		memcpy(copy, value, value_len);
	free(r->list[i].value);
	r->list[i].value = copy;
	r->list[i].value_len = value_len;
	r->list[i].time_ms = time_ms;
	r->bytes += value_len - had;
	queue(r, i);
	return 0;
}

bool records_has(const struct records *r, const void *key, size_t key_len)
{
	uint32_t i = find(r, key, key_len);

	return i != RECORDS_NONE && r->list[i].value_len;
}

void records_rewind(struct records *r)
{
	r->first = r->last = RECORDS_NONE;
	for (uint32_t i = 0; i < r->count; i++) {
		r->list[i].queued = false;
		queue(r, i);
	}
}

const struct record *records_peek(const struct records *r)
{
	return r->first == RECORDS_NONE ? NULL : &r->list[r->first];
}

void records_sent(struct records *r)
{
	struct record *sent = &r->list[r->first];

	sent->queued = false;
	r->first = sent->follow;
	if (r->first == RECORDS_NONE)
		r->last = RECORDS_NONE;
}

void records_free(struct records *r)
{
	for (uint32_t i = 0; i < r->count; i++)
		free(r->list[i].value);
	free(r->list);
	free(r->heads);
	*r = (struct records){ 0 };
}
