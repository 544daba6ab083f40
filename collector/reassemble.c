// SPDX-License-Identifier: GPL-2.0
/*
 * Reassembly: see reassemble.h. Always holds: at most REASSEMBLE_SLOTS buffers of COMBO_WIRE_MAX
 * bytes a sensor, whatever arrives.
 */
#include "reassemble.h"

#include <stdlib.h>
#include <string.h>

#include "wire/combo.h"

_Static_assert((COMBO_WIRE_MAX + PIECE_DATA_MAX - 1) / PIECE_DATA_MAX <= 32, "a bit a piece");

static struct reassembly_slot *slot_of(struct reassembly *r, uint64_t number)
{
	return &r->slots[number % REASSEMBLE_SLOTS];
}

static bool slot_whole(const struct reassembly_slot *s)
{
	return s->data && s->got == s->total;
}

static void slot_clear(struct reassembly *r, struct reassembly_slot *s)
{
	r->held -= s->data != NULL;
	r->whole -= slot_whole(s);
	free(s->data);
	memset(s, 0, sizeof(*s));
}

/* The full number of which a piece carries the low 24 bits: the one nearest to the next due. */
static uint64_t full_number(const struct reassembly *r, uint32_t low)
{
	int32_t ahead = (int32_t)((low - (uint32_t)r->next) << (32 - PIECE_COMBO_BITS)) >>
			(32 - PIECE_COMBO_BITS);

	return r->next + (int64_t)ahead;
}

static void start(struct reassembly *r, uint32_t low)
{
	r->started = true;
	/* A run begins with 0, but its first pieces may have been overtaken. Anything further on
	 * is a run that began before we did. */
	r->next = low < REASSEMBLE_SLOTS ? 0 : low;
}

enum reassemble_result reassemble_add(struct reassembly *r, const struct piece *p, uint64_t now_ns)
{
	struct reassembly_slot *s;
	uint64_t number;
	uint32_t bit;

	if (p->total > COMBO_WIRE_MAX)
		return REASSEMBLE_BAD;
	bit = 1u << (p->offset / PIECE_DATA_MAX);
	if (!r->started)
		start(r, p->combo);
	number = full_number(r, p->combo);
	if ((int64_t)(number - r->next) < 0)
		return REASSEMBLE_DUPLICATE;
	while (number - r->next >= REASSEMBLE_SLOTS) { /* the oldest has had its time */
		if (slot_whole(slot_of(r, r->next)))
			return REASSEMBLE_FULL;
		if (r->held) {
			slot_clear(r, slot_of(r, r->next));
			r->next++;
		} else {
			r->next = number - REASSEMBLE_SLOTS + 1;
		}
	}
	s = slot_of(r, number);
	if (!s->data) {
		s->data = malloc(p->total);
		if (!s->data)
			return REASSEMBLE_BAD;
		s->total = p->total;
		r->held++;
	}
	if (slot_whole(s))
		return REASSEMBLE_DUPLICATE;
	if (s->total != p->total)
		return REASSEMBLE_BAD;
	if (s->have & bit)
		return REASSEMBLE_DUPLICATE;
	memcpy(s->data + p->offset, p->data, p->len);
	s->have |= bit;
	s->got += p->len;
	if (slot_whole(s)) {
		r->whole++;
		if (number != r->next && !r->waiting_since_ns)
			r->waiting_since_ns = now_ns;
	}
	return REASSEMBLE_TAKEN;
}

const uint8_t *reassemble_take(struct reassembly *r, size_t *len, uint64_t *number)
{
	struct reassembly_slot *s = slot_of(r, r->next);

	if (!r->started || !slot_whole(s))
		return NULL;
	*len = s->total;
	*number = r->next;
	return s->data;
}

void reassemble_done(struct reassembly *r)
{
	slot_clear(r, slot_of(r, r->next));
	r->next++;
	r->waiting_since_ns = 0; /* reassemble_tick sets it again if need be */
}

bool reassemble_tick(struct reassembly *r, uint64_t now_ns, bool all)
{
	/* With nothing whole behind it, what is missing may still be sent again. */
	if (!r->held || (!r->whole && !all)) {
		r->waiting_since_ns = 0;
		return false;
	}
	if (!r->waiting_since_ns)
		r->waiting_since_ns = now_ns;
	if (!all && now_ns - r->waiting_since_ns < REASSEMBLE_WAIT_NS)
		return false;
	while (r->held && !slot_whole(slot_of(r, r->next))) {
		slot_clear(r, slot_of(r, r->next));
		r->next++;
	}
	return r->held > 0;
}

void reassemble_resume(struct reassembly *r)
{
	for (int i = 0; i < REASSEMBLE_SLOTS; i++)
		if (!slot_whole(&r->slots[i]))
			slot_clear(r, &r->slots[i]);
}

void reassemble_free(struct reassembly *r)
{
	for (int i = 0; i < REASSEMBLE_SLOTS; i++)
		slot_clear(r, &r->slots[i]);
}

void reassemble_reset(struct reassembly *r)
{
	reassemble_free(r);
	memset(r, 0, sizeof(*r));
}
