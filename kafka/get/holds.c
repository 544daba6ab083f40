// SPDX-License-Identifier: GPL-2.0
/* Holds: see holds.h. */
#include "holds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void holds_init(struct holds *h, struct offsets *offsets, const struct records *records)
{
	*h = (struct holds){ .offsets = offsets, .records = records };
}

static int grow(struct holds *h, int32_t count)
{
	struct hold **heads = realloc(h->heads, count * sizeof(*heads)), **tails;

	if (!heads)
		return -ENOMEM;
	h->heads = heads;
	tails = realloc(h->tails, count * sizeof(*tails));
	if (!tails)
		return -ENOMEM;
	h->tails = tails;
	for (; h->partition_count < count; h->partition_count++)
		heads[h->partition_count] = tails[h->partition_count] = NULL;
	return 0;
}

static bool is_known(const struct holds *h, const struct hold *m)
{
	return !m->key_len || records_has(h->records, m->key, m->key_len);
}

static void pass_on(struct holds *h, const struct hold *m)
{
	offsets_add(h->offsets, m->partition, m->offset, m->message, m->bytes, m->pass);
}

int holds_take(struct holds *h, const struct hold *m, uint64_t ticket)
{
	struct hold *one;

	if (m->partition >= h->partition_count && grow(h, m->partition + 1))
		return -ENOMEM;
	if (!h->heads[m->partition] && is_known(h, m)) {
		pass_on(h, m);
		return 0;
	}
	one = malloc(sizeof(*one));
	if (!one)
		return -ENOMEM;
	*one = *m;
	one->next = NULL;
	one->ticket = ticket;
	if (!is_known(h, m))
		h->wanted = ticket;
	if (h->heads[m->partition])
		h->tails[m->partition]->next = one;
	else
		h->heads[m->partition] = one;
	h->tails[m->partition] = one;
	h->count++;
	h->passing += m->pass;
	h->bytes += m->bytes;
	return 0;
}

static void remove_head(struct holds *h, int32_t partition)
{
	struct hold *m = h->heads[partition];

	h->heads[partition] = m->next;
	h->count--;
	h->passing -= m->pass;
	h->bytes -= m->bytes;
	free(m);
}

static bool may_go(struct holds *h, const struct hold *m, uint64_t reached)
{
	if (is_known(h, m))
		return true;
	if (m->ticket > reached)
		return false;
	h->unknown++;
	return true;
}

void holds_release(struct holds *h, uint64_t reached)
{
	for (int32_t i = 0; i < h->partition_count && h->count; i++) {
		while (h->heads[i] && may_go(h, h->heads[i], reached)) {
			pass_on(h, h->heads[i]);
			remove_head(h, i);
		}
	}
}

uint64_t holds_revoke(struct holds *h, int32_t partition)
{
	uint64_t count = 0;

	while (partition < h->partition_count && h->heads[partition]) {
		count += !h->heads[partition]->pass;
		h->offsets->release(h->heads[partition]->message);
		remove_head(h, partition);
	}
	return count;
}

bool holds_are_full(const struct holds *h)
{
	const struct offsets *o = h->offsets;

	return o->end - o->first + h->count >= OFFSETS_MESSAGES ||
	       o->bytes + h->bytes >= OFFSETS_BYTES;
}

void holds_free(struct holds *h)
{
	for (int32_t i = 0; i < h->partition_count; i++)
		holds_revoke(h, i);
	free(h->heads);
	free(h->tails);
	*h = (struct holds){ 0 };
}
