// SPDX-License-Identifier: GPL-2.0
/* Flow, state: see flow_state.h. */
#include "flow_state.h"

#include <string.h>

#define STACK_LEN (FLOW_SLOTS * 8)

static const char nowhere[] = "it reads or writes its stack, and it is not known where";

/* ---- values ---------------------------------------------------------------------------------- */

/* What a value's number is of. */
static uint8_t subject(uint8_t may)
{
	return may & FLOW_STACK ? FLOW_STACK : may & FLOW_MAP ? FLOW_MAP : FLOW_DATA;
}

static bool same(const struct flow_value *a, const struct flow_value *b)
{
	return a->may == b->may && a->frame == b->frame && a->known == b->known &&
	       a->number == b->number;
}

bool flow_value_join(struct flow_value *to, const struct flow_value *from)
{
	struct flow_value old = *to, joined = old;
	uint8_t of = subject(old.may | from->may);

	if (!(old.may & of)) {
		joined = *from;
	} else if (from->may & of &&
		   (!from->known || old.frame != from->frame || old.number != from->number)) {
		joined.known = false;
		joined.number = 0;
		if (old.frame != from->frame)
			joined.frame = FLOW_FRAMES;
	}
	joined.may = old.may | from->may;
	*to = joined;
	return !same(&old, to);
}

/* ---- slots ----------------------------------------------------------------------------------- */

static bool slot_join(struct flow_slot *to, const struct flow_slot *from)
{
	uint8_t written = to->written & from->written;
	bool more = flow_value_join(&to->value, &from->value) || written != to->written;

	to->written = written;
	return more;
}

bool flow_state_join(struct flow_state *to, const struct flow_state *from)
{
	bool more = false;

	for (unsigned int i = 0; i < FLOW_REGISTERS; i++)
		more |= flow_value_join(&to->registers[i], &from->registers[i]);
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

/* Bytes of a frame that may be meant: where it is not known, any. */
struct range {
	uint32_t from, to;
};

static struct range range_of(const struct flow_value *at, uint32_t len)
{
	uint32_t from = STACK_LEN + at->number;

	if (!at->known)
		return (struct range){ 0, STACK_LEN };
	return (struct range){ from, len ? from + len : STACK_LEN };
}

static bool is_somewhere(const struct flow_state *s, const struct flow_value *at, uint32_t len)
{
	return at->frame <= s->frame &&
	       (!at->known ||
		(at->number >= -STACK_LEN && at->number < 0 && len <= (uint32_t)-at->number));
}

/* Those of a slot, as bits. */
static uint8_t bytes_of(uint32_t slot, struct range r)
{
	uint32_t first = r.from > slot * 8 ? r.from - slot * 8 : 0;
	uint32_t last = r.to < slot * 8 + 8 ? r.to - slot * 8 : 8;

	return (0xff << first) & (0xff >> (8 - last));
}

const char *flow_stack_read(struct flow_state *s, const struct flow_value *at, uint32_t len)
{
	struct range r = range_of(at, len);

	if (!is_somewhere(s, at, len))
		return nowhere;
	for (uint32_t i = r.from / 8; i < (r.to + 7) / 8; i++) {
		const struct flow_slot *slot = &s->stack[at->frame][i];
		uint8_t bytes = bytes_of(i, r);

		if (slot->value.may & FLOW_ADDRESS)
			return at->known
				       ? "it makes data of an address on its stack"
				       : "it may make data of an address on its stack, by an index "
					 "that depends on data; put what is indexed into a map";
		if ((slot->written & bytes) != bytes)
			s->zeros |= 1 << at->frame;
	}
	return NULL;
}

const char *flow_stack_load(struct flow_state *s, const struct flow_value *at, uint32_t len,
			    struct flow_value *out)
{
	const struct flow_value data = { .may = FLOW_DATA };
	const struct flow_slot *slot;

	*out = data;
	if (len != 8 || !at->known || at->number % 8 || !is_somewhere(s, at, len))
		return flow_stack_read(s, at, len);
	slot = &s->stack[at->frame][FLOW_SLOTS + at->number / 8];
	*out = slot->value;
	if (slot->written != 0xff) {
		flow_value_join(out, &data);
		s->zeros |= 1 << at->frame;
	}
	return NULL;
}

/* A slot, of which these bytes are data or a value then. */
static void slot_store(struct flow_slot *slot, uint8_t bytes, const struct flow_value *value,
		       bool sure)
{
	if (sure && bytes == 0xff) {
		slot->value = *value;
		slot->written = 0xff;
		return;
	}
	flow_value_join(&slot->value, value);
	if (bytes != 0xff && !(slot->value.may & FLOW_ADDRESS)) {
		slot->value.known = false;
		slot->value.number = 0;
	}
	slot->written |= sure ? bytes : 0;
}

const char *flow_stack_store(struct flow_state *s, const struct flow_value *at, uint32_t len,
			     const struct flow_value *value, bool sure)
{
	const struct flow_value data = { .may = FLOW_DATA };
	struct range r = range_of(at, len);

	if (!is_somewhere(s, at, len))
		return nowhere;
	if (value->may & FLOW_ADDRESS && (!at->known || len != 8 || at->number % 8))
		return "it stores an address, or a part of one, where it is not found again";
	for (uint32_t i = r.from / 8; i < (r.to + 7) / 8; i++)
		slot_store(&s->stack[at->frame][i], bytes_of(i, r), at->known ? value : &data,
			   sure && at->known);
	return NULL;
}
