// SPDX-License-Identifier: GPL-2.0
/* Flow, state: see flow_state.h. */
#include "flow_state.h"

#include <string.h>

static const char nowhere[] = "it reads or writes its stack, and it is not known where";

/* ---- states ---------------------------------------------------------------------------------- */

/* If one path leaves data and another an address, the verifier may take the address for data, here
 * or later on the stack. It does not always know a slot's content. Then it prunes a later path that
 * has an address in the slot (stacksafe(), STACK_MISC). */
static bool value_join(struct flow_value *to, const struct flow_value *from)
{
	bool differ = to->may && from->may && flow_is_data(to) != flow_is_data(from);
	uint8_t may = to->may;
	bool more = flow_value_join(to, from);

	to->may |= differ ? FLOW_LOOSE : 0;
	return more || to->may != may;
}

static bool slot_join(struct flow_slot *to, const struct flow_slot *from)
{
	uint8_t written = to->written & from->written;
	bool more = value_join(&to->value, &from->value) || written != to->written;

	to->written = written;
	return more;
}

bool flow_state_join(struct flow_state *to, const struct flow_state *from)
{
	bool more = false;

	for (unsigned int i = 0; i < FLOW_REGISTERS; i++)
		more |= value_join(&to->registers[i], &from->registers[i]);
	for (unsigned int f = 0; f <= to->frame; f++)
		for (unsigned int i = 0; i < FLOW_SLOTS; i++)
			more |= slot_join(&to->stack[f][i], &from->stack[f][i]);
	return more;
}

size_t flow_state_size(const struct flow_state *s)
{
	return offsetof(struct flow_state, stack) + (s->frame + 1) * sizeof(s->stack[0]);
}

void flow_state_copy(struct flow_state *to, const struct flow_state *from)
{
	memcpy(to, from, flow_state_size(from));
}

/* ---- the stack ------------------------------------------------------------------------------- */

/* The bytes of a frame that an access may touch, counted from the lowest. */
struct range {
	uint32_t from, to;
};

/* The verifier checks that the access is inside the frame. */
static bool range_of(const struct flow_state *s, const struct flow_value *at, uint32_t len,
		     struct range *r)
{
	int64_t from = (int64_t)FLOW_STACK_LEN + at->number, to = from + at->span + len;

	if (at->frame > s->frame)
		return false;
	if (at->span == FLOW_UNKNOWN)
		from = 0;
	if (at->span >= FLOW_FAR || !len || to > FLOW_STACK_LEN)
		to = FLOW_STACK_LEN;
	r->from = from < 0 ? 0 : from;
	r->to = to < 0 ? 0 : to;
	return r->from < r->to;
}

/* The bytes of one slot, as bits. */
static uint8_t bytes_of(uint32_t slot, const struct range *r)
{
	uint32_t first = r->from > slot * 8 ? r->from - slot * 8 : 0;
	uint32_t last = r->to < slot * 8 + 8 ? r->to - slot * 8 : 8;

	return (0xff << first) & (0xff >> (8 - last));
}

const char *flow_stack_read(struct flow_state *s, const struct flow_value *at, uint32_t len)
{
	struct range r;

	if (!range_of(s, at, len, &r))
		return nowhere;
	for (uint32_t i = r.from / 8; i < (r.to + 7) / 8; i++) {
		const struct flow_slot *slot = &s->stack[at->frame][i];
		uint8_t bytes = bytes_of(i, &r);

		if (slot->value.may & FLOW_ADDRESS)
			return at->span
				       ? "it may make data of an address on its stack, by an index "
					 "that depends on data; put what is indexed into a map"
				       : "it makes data of an address on its stack";
		if ((slot->written & bytes) != bytes)
			s->unwritten[at->frame] |= 1ULL << i;
	}
	return NULL;
}

static bool is_slot(const struct flow_value *at, uint32_t len)
{
	return len == 8 && !at->span && !at->is_indexed && at->number % 8 == 0;
}

const char *flow_stack_load(struct flow_state *s, const struct flow_value *at, uint32_t len,
			    struct flow_value *out)
{
	const struct flow_value data = flow_data();
	const struct flow_slot *slot;
	struct range r;

	*out = flow_bytes(len);
	if (!is_slot(at, len) || !range_of(s, at, len, &r))
		return flow_stack_read(s, at, len);
	slot = &s->stack[at->frame][r.from / 8];
	*out = slot->value;
	if (slot->written != 0xff) {
		flow_value_join(out, &data);
		s->unwritten[at->frame] |= 1ULL << r.from / 8;
	}
	return NULL;
}

/* Stores data or a value in these bytes of a slot. If an address is not overwritten completely, a
 * rest of it remains. */
static void slot_store(struct flow_slot *slot, uint8_t bytes, const struct flow_value *value,
		       bool sure)
{
	if (sure && bytes == 0xff) {
		slot->value = *value;
		slot->written = 0xff;
		return;
	}
	flow_value_join(&slot->value, value);
	if (flow_is_data(&slot->value))
		slot->value = flow_data();
	else
		slot->value.may |= FLOW_REST;
	slot->written |= sure ? bytes : 0;
}

void flow_stack_loosen(struct flow_state *s, uint8_t frame)
{
	for (int i = 0; i < FLOW_SLOTS; i++)
		if (!flow_is_data(&s->stack[frame][i].value))
			s->stack[frame][i].value.may |= FLOW_LOOSE;
}

const char *flow_stack_store(struct flow_state *s, const struct flow_value *at, uint32_t len,
			     const struct flow_value *value, bool sure)
{
	struct range r;

	if (!range_of(s, at, len, &r))
		return nowhere;
	if (!flow_is_data(value) && !is_slot(at, len))
		return "it stores an address, or a part of one, where it is not found again";
	if (at->is_indexed)
		flow_stack_loosen(s, at->frame);
	for (uint32_t i = r.from / 8; i < (r.to + 7) / 8; i++)
		slot_store(&s->stack[at->frame][i], bytes_of(i, &r), value, sure && !at->span);
	return NULL;
}
