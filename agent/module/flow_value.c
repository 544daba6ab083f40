// SPDX-License-Identifier: GPL-2.0
/* Flow, value: see flow_value.h. */
#include "flow_value.h"

#include <linux/bpf.h>

struct flow_value flow_data(void)
{
	return (struct flow_value){ .may = FLOW_DATA, .span = FLOW_UNKNOWN };
}

struct flow_value flow_number(int32_t number)
{
	return (struct flow_value){ .may = FLOW_DATA, .number = number };
}

/* Limits a range to the longest that matters, the stack's length. */
static uint16_t far(uint64_t span)
{
	return span <= FLOW_STACK_LEN ? span : FLOW_FAR;
}

struct flow_value flow_below(uint64_t most)
{
	return (struct flow_value){ .may = FLOW_DATA,
				    .span = most > UINT32_MAX ? FLOW_UNKNOWN : far(most) };
}

struct flow_value flow_bytes(uint32_t len)
{
	return len < 8 ? flow_below((1ULL << len * 8) - 1) : flow_data();
}

bool flow_is_data(const struct flow_value *v)
{
	return !(v->may & FLOW_ADDRESS);
}

bool flow_is_number(const struct flow_value *v, int32_t *number)
{
	*number = v->number;
	return v->may == FLOW_DATA && !v->span;
}

static void forget(struct flow_value *v)
{
	v->span = FLOW_UNKNOWN;
	v->number = 0;
}

void flow_move(struct flow_value *v, const struct flow_value *by, bool back)
{
	bool ends = v->span < FLOW_FAR && by->span < FLOW_FAR;
	int64_t number = (int64_t)v->number + by->number;

	if (v->span == FLOW_UNKNOWN || by->span == FLOW_UNKNOWN || (back && by->span == FLOW_FAR)) {
		forget(v);
		return;
	}
	if (back)
		number = (int64_t)v->number - by->number - by->span;
	if (number < -65536 || number > 65536) { /* beyond any stack */
		forget(v);
		return;
	}
	v->number = number;
	v->span = ends ? far(v->span + by->span) : FLOW_FAR;
}

/* Widens the range to include both. A loop's counter grows the range with each turn: one by one up
 * to 64, then in few large steps. */
static void widen(struct flow_value *v, const struct flow_value *by)
{
	int64_t first = v->number < by->number ? v->number : by->number, last;
	uint64_t span, step;

	if (v->span == FLOW_UNKNOWN || by->span == FLOW_UNKNOWN) {
		forget(v);
		return;
	}
	if (v->span == FLOW_FAR || by->span == FLOW_FAR) {
		v->span = FLOW_FAR;
		if (first != v->number)
			forget(v);
		return;
	}
	last = (int64_t)v->number + v->span;
	if (last < (int64_t)by->number + by->span)
		last = (int64_t)by->number + by->span;
	span = last - first;
	if (first != v->number && span > 64) { /* no lower bound is known */
		forget(v);
		return;
	}
	for (step = 127; span > 64 && span != v->span && step <= FLOW_STACK_LEN;
	     step = 2 * step + 1)
		if (span <= step) {
			span = step;
			break;
		}
	v->number = first;
	v->span = far(span);
}

/* The kinds of value that a range applies to. */
static uint8_t subject(uint8_t may)
{
	return may & FLOW_STACK ? FLOW_STACK : FLOW_DATA;
}

static bool same(const struct flow_value *a, const struct flow_value *b)
{
	return a->may == b->may && a->frame == b->frame && a->span == b->span &&
	       a->number == b->number && a->maps == b->maps && a->is_indexed == b->is_indexed;
}

bool flow_value_join(struct flow_value *to, const struct flow_value *from)
{
	struct flow_value old = *to, joined = old;
	uint8_t of = subject(old.may | from->may);

	if (!(old.may & of)) {
		joined = *from;
	} else if (from->may & of) {
		widen(&joined, from);
		if (old.frame != from->frame)
			joined.frame = FLOW_FRAMES;
	}
	joined.may = old.may | from->may;
	if (!(joined.may & of)) /* the range applies to nothing */
		forget(&joined);
	joined.maps = old.maps | from->maps;
	joined.is_indexed = old.is_indexed | from->is_indexed;
	*to = joined;
	return !same(&old, to);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

struct flow_value flow_at_most(const struct flow_value *v, int64_t last)
{
	uint64_t n;

	if (!flow_most(v, &n))
		return flow_below(last);
	if (v->number > last || n <= (uint64_t)last)
		return *v; /* this path is impossible, or nothing new is known */
	return (struct flow_value){ .may = FLOW_DATA,
				    .number = v->number,
				    .span = last - v->number };
}

bool flow_most(const struct flow_value *v, uint64_t *out)
{
	*out = v->span == FLOW_FAR ? UINT32_MAX : (uint64_t)v->number + v->span;
	return v->span != FLOW_UNKNOWN && v->number >= 0;
}

struct flow_value flow_lower(const struct flow_value *v)
{
	uint64_t n;

	return flow_most(v, &n) ? *v : flow_below(UINT32_MAX); /* below 2^32 then */
}

static struct flow_value added(const struct flow_value *a, const struct flow_value *b, bool back)
{
	struct flow_value sum = *a;

	if (a->span >= FLOW_FAR || b->span >= FLOW_FAR)
		return flow_data();
	flow_move(&sum, b, back);
	return sum;
}

static struct flow_value arithmetic(uint8_t op, bool wide, const struct flow_value *a,
				    const struct flow_value *b)
{
	uint64_t of_a = wide ? UINT64_MAX : UINT32_MAX, of_b = of_a, n;
	bool knows_a = flow_most(a, &n), knows_b;
	int32_t by;

	if (op == BPF_ADD || op == BPF_SUB)
		return added(a, b, op == BPF_SUB);
	of_a = knows_a ? n : of_a;
	knows_b = flow_most(b, &n);
	of_b = knows_b ? n : of_b;
	if (op == BPF_AND)
		return flow_below(of_a < of_b ? of_a : of_b);
	/* The verifier knows nothing about a quotient or a remainder, so this code must not
	 * either. */
	if (!flow_is_number(b, &by) || by < 0)
		return flow_data();
	if (op == BPF_RSH && by < (wide ? 64 : 32))
		return flow_below(of_a >> by);
	if (op == BPF_LSH && by < 16 && knows_a)
		return flow_below(of_a << by);
	if (op == BPF_MUL && by < 65536 && knows_a)
		return flow_below(of_a * by);
	return flow_data();
}

struct flow_value flow_reckon(uint8_t op, bool wide, const struct flow_value *a,
			      const struct flow_value *b)
{
	struct flow_value v = arithmetic(op, wide, a, b);

	return wide ? v : flow_lower(&v);
}
