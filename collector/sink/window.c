// SPDX-License-Identifier: GPL-2.0
/* Window: see window.h. */
#include "window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/monotonic.h"

/* What the largest message takes. */
#define ENTRY_MAX (sizeof(struct window_entry) + PUT_MAX)

int window_init(struct window *w)
{
	*w = (struct window){ .slots = calloc(WINDOW_SLOTS, sizeof(*w->slots)),
			      .free = calloc(WINDOW_SLOTS, sizeof(*w->free)) };
	if (!w->slots || !w->free) {
		window_free(w);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < WINDOW_SLOTS; i++)
		w->free[i] = i;
	return 0;
}

void window_free(struct window *w)
{
	for (uint32_t i = 0; w->slots && w->count && i < WINDOW_SLOTS; i++)
		free(w->slots[i]);
	free(w->slots);
	free(w->free);
	memset(w, 0, sizeof(*w));
}

/* ---- room ------------------------------------------------------------------------------------ */

static size_t room(const struct window *w)
{
	return w->bytes < WINDOW_BYTES ? WINDOW_BYTES - w->bytes : 0;
}

bool window_is_full(const struct window *w)
{
	return w->count >= WINDOW_SLOTS / 8 * 7 || room(w) < ENTRY_MAX;
}

bool window_has_room(const struct window *w, const struct window_part *part)
{
	return !window_is_full(w) && (!part->bytes || part->bytes + ENTRY_MAX <= room(w));
}

/* ---- messages -------------------------------------------------------------------------------- */

static size_t entry_bytes(const struct window_entry *e)
{
	return sizeof(*e) + e->len;
}

static void append(struct window *w, struct window_entry *e)
{
	e->next = NULL;
	e->before = w->last;
	if (w->last)
		w->last->next = e;
	else
		w->first = e;
	w->last = e;
	w->unsent = w->unsent ?: e;
}

static void append_to_part(struct window_part *p, struct window_entry *e)
{
	e->of_before = p->last;
	if (p->last)
		p->last->of_next = e;
	else
		p->first = e;
	p->last = e;
}

/* The lowest bits of a number are its slot, so a number finds its message at once. */
static void number_take(struct window *w, struct window_entry *e)
{
	uint32_t slot = w->free[w->count++];

	e->number = ++w->serial * WINDOW_SLOTS + slot;
	w->slots[slot] = e;
}

struct window_entry *window_add(struct window *w, struct window_part *part, struct put *p,
				bool waits)
{
	size_t len = PUT_HEAD_LEN + p->key_len + p->header_len;
	struct window_entry *e;

	if (w->count == WINDOW_SLOTS)
		return NULL;
	e = malloc(sizeof(*e) + len + p->value_len);
	if (!e)
		return NULL;
	*e = (struct window_entry){ .part = part,
				    .in_part = part && p->topic == PUT_COMBOS,
				    .waits = waits };
	number_take(w, e);
	p->number = e->number;
	p->time_ms = clock_ns(CLOCK_REALTIME) / 1000000;
	put_write(e->bytes, p);
	memcpy(e->bytes + len, p->value, p->value_len);
	e->len = len + p->value_len;
	w->bytes += entry_bytes(e);
	if (part)
		part->bytes += entry_bytes(e);
	if (part && e->in_part)
		append_to_part(part, e);
	if (!waits)
		append(w, e);
	return e;
}

void window_release(struct window *w, struct window_part *part)
{
	for (struct window_entry *e = part->first; e; e = e->of_next) {
		if (!e->waits)
			continue;
		e->waits = false;
		append(w, e);
	}
}

const struct window_entry *window_first_combo(const struct window_part *part)
{
	const struct window_entry *e = part->first;

	while (e && !e->combo)
		e = e->of_next;
	return e;
}

struct window_entry *window_find(const struct window *w, uint64_t number)
{
	struct window_entry *e = w->slots[number % WINDOW_SLOTS];

	return e && e->number == number ? e : NULL;
}

static void unlink_from_all(struct window *w, struct window_entry *e)
{
	if (w->unsent == e)
		w->unsent = e->next;
	if (e->before)
		e->before->next = e->next;
	else
		w->first = e->next;
	if (e->next)
		e->next->before = e->before;
	else
		w->last = e->before;
}

static void unlink_from_part(struct window_part *p, struct window_entry *e)
{
	if (e->of_before)
		e->of_before->of_next = e->of_next;
	else
		p->first = e->of_next;
	if (e->of_next)
		e->of_next->of_before = e->of_before;
	else
		p->last = e->of_before;
}

void window_remove(struct window *w, struct window_entry *e)
{
	uint32_t slot = e->number % WINDOW_SLOTS;

	if (!e->waits)
		unlink_from_all(w, e);
	if (e->in_part)
		unlink_from_part(e->part, e);
	if (e->part)
		e->part->bytes -= entry_bytes(e);
	w->bytes -= entry_bytes(e);
	w->slots[slot] = NULL;
	w->free[--w->count] = slot;
	free(e);
}

void window_again(struct window *w)
{
	w->unsent = w->first;
}
