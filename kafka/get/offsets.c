// SPDX-License-Identifier: GPL-2.0
/* Offsets: see offsets.h. */
#include "offsets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int offsets_init(struct offsets *o, void (*release)(void *message))
{
	*o = (struct offsets){ .release = release };
	o->items = calloc(OFFSETS_RING, sizeof(*o->items));
	return o->items ? 0 : -ENOMEM;
}

static struct offsets_item *item(struct offsets *o, uint64_t number)
{
	return &o->items[number % OFFSETS_RING];
}

/* ---- partitions ------------------------------------------------------------------------------ */

static int grow(struct offsets *o, int32_t count)
{
	struct offsets_partition *more;

	if (count > OFFSETS_PARTITIONS)
		return -ENOMEM;
	more = realloc(o->partitions, count * sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + o->partition_count, 0, (count - o->partition_count) * sizeof(*more));
	o->partitions = more;
	o->partition_count = count;
	return 0;
}

int offsets_assign(struct offsets *o, int32_t partition)
{
	int err = 0;

	if (partition < 0)
		return -EINVAL;
	if (partition >= o->partition_count)
		err = grow(o, partition + 1);
	if (!err && !o->partitions[partition].assigned)
		o->partitions[partition] = (struct offsets_partition){ .assigned = true,
								       .next = OFFSETS_UNKNOWN,
								       .committed = OFFSETS_UNKNOWN,
								       .position = OFFSETS_UNKNOWN,
								       .end = OFFSETS_UNKNOWN };
	return err;
}

struct offsets_partition *offsets_find(struct offsets *o, int32_t partition)
{
	if (partition < 0 || partition >= o->partition_count || !o->partitions[partition].assigned)
		return NULL;
	return &o->partitions[partition];
}

/* ---- messages -------------------------------------------------------------------------------- */

bool offsets_is_full(const struct offsets *o)
{
	return o->end - o->first >= OFFSETS_MESSAGES || o->bytes >= OFFSETS_BYTES;
}

static void skip_done(struct offsets *o)
{
	while (o->first < o->end && !item(o, o->first)->message)
		o->first++;
	if (o->sent < o->first)
		o->sent = o->first;
}

static void release(struct offsets *o, struct offsets_item *i)
{
	o->release(i->message);
	i->message = NULL;
	o->bytes -= i->bytes;
	o->waiting--;
}

/* Messages with DONE stay in the partition's list until all before them have it. */
static void advance(struct offsets *o, struct offsets_partition *p)
{
	while (p->waiting && !item(o, p->head)->message) {
		p->next = item(o, p->head)->offset + 1;
		p->head = item(o, p->head)->next;
		p->waiting--;
	}
}

/* The message has DONE. */
static void settle(struct offsets *o, uint64_t number)
{
	struct offsets_item *i = item(o, number);

	release(o, i);
	advance(o, &o->partitions[i->partition]);
	skip_done(o);
}

void offsets_add(struct offsets *o, int32_t partition, int64_t offset, void *message, size_t bytes,
		 bool pass)
{
	struct offsets_partition *p = &o->partitions[partition];
	uint64_t number = o->end++;

	*item(o, number) = (struct offsets_item){
		.message = message, .bytes = bytes, .offset = offset, .partition = partition
	};
	if (p->waiting)
		item(o, p->tail)->next = number;
	else
		p->head = number;
	p->tail = number;
	p->waiting++;
	o->waiting++;
	o->bytes += bytes;
	if (pass)
		settle(o, number);
}

const struct offsets_item *offsets_peek(struct offsets *o, uint64_t *number)
{
	while (o->sent < o->end && !item(o, o->sent)->message)
		o->sent++;
	if (o->sent == o->end)
		return NULL;
	*number = o->sent;
	return item(o, o->sent);
}

void offsets_sent(struct offsets *o)
{
	o->sent++;
}

void offsets_back(struct offsets *o, uint64_t number)
{
	o->sent = number;
}

void offsets_rewind(struct offsets *o)
{
	o->sent = o->first;
}

int offsets_done(struct offsets *o, uint64_t number)
{
	if (number < o->first || number >= o->sent || !item(o, number)->message)
		return -ENOENT;
	settle(o, number);
	return 0;
}

uint64_t offsets_revoke(struct offsets *o, int32_t partition)
{
	struct offsets_partition *p = offsets_find(o, partition);
	uint64_t number, before = o->waiting;

	if (!p)
		return 0;
	number = p->head;
	for (; p->waiting; p->waiting--) {
		struct offsets_item *i = item(o, number);

		number = i->next;
		if (i->message)
			release(o, i);
	}
	p->assigned = false;
	skip_done(o);
	return before - o->waiting;
}

void offsets_free(struct offsets *o)
{
	for (int32_t i = 0; i < o->partition_count; i++)
		offsets_revoke(o, i);
	free(o->items);
	free(o->partitions);
	*o = (struct offsets){ 0 };
}
