// SPDX-License-Identifier: GPL-2.0
/*
 * Turns: see turns.h. Always holds: a sensor is in the queue, among those held, or in neither; one
 * in neither has no combo that could be taken.
 */
#include "turns.h"

#include <saluki/log.h>
#include <saluki/monotonic.h>

#include "collector/network/messages.h"

/* ---- the queue ------------------------------------------------------------------------------- */

static void queue_append(struct turns *v, struct sensor *s)
{
	s->serve.state = TURNS_READY;
	s->serve.next = NULL;
	if (v->last)
		v->last->serve.next = s;
	else
		v->first = s;
	v->last = s;
}

static struct sensor *queue_take(struct turns *v)
{
	struct sensor *s = v->first;

	v->first = s->serve.next;
	if (!v->first)
		v->last = NULL;
	s->serve.state = TURNS_IDLE;
	return s;
}

void turns_ready(struct session_receive *o, struct sensor *s)
{
	if (s->serve.state != TURNS_IDLE)
		return;
	s->serve.credit_ns = 0;
	queue_append(&o->serve, s);
}

/* ---- who is held ----------------------------------------------------------------------------- */

/* Of one sensor: of a full disk, output_hold.c has said it for all. */
static void tell_held(struct session_receive *o, struct sensor *s, uint64_t now_ns)
{
	struct turn *v = &s->serve;

	if (o->output->hold.on || v->told || (v->told_ns && now_ns - v->told_ns < TURNS_TELL_NS))
		return;
	log_line("sensor %s: has used its share of the disk (%llu of %llu kB above --keep-free); "
		 "its frames wait at the sensor until there is more room",
		 s->name, (unsigned long long)(budget_share(&o->output->budget) / 1000),
		 (unsigned long long)(budget_room(&o->output->budget) / 1000));
	v->told = true;
	v->told_ns = now_ns;
}

static void hold(struct session_receive *o, struct sensor *s, uint64_t now_ns)
{
	s->serve.state = TURNS_HELD;
	s->serve.held_at_ns = now_ns;
	s->serve.next = o->serve.held;
	o->serve.held = s;
	/* Nothing of it is taken soon, so nothing of another's gives way to it. */
	s->reassembly.waits = true;
	o->pool.waits = o->output->hold.on;
	tell_held(o, s, now_ns);
}

void turns_wait(struct session_receive *o, struct sensor *s, uint64_t now_ns)
{
	if (s->serve.state == TURNS_IDLE)
		hold(o, s, now_ns);
}

static void release(struct session_receive *o, struct sensor *s, uint64_t now_ns)
{
	s->serve.held_ns += now_ns - s->serve.held_at_ns;
	s->serve.state = TURNS_IDLE;
	s->reassembly.waits = false;
	turns_ready(o, s);
}

/* One that has a turn again, and is not held at once, may go on for some time. */
static void tell_released(struct sensor *s, uint64_t now_ns)
{
	if (!s->serve.told || now_ns - s->serve.told_ns < TURNS_TELL_NS)
		return;
	log_line("sensor %s: its frames are written again", s->name);
	s->serve.told = false;
}

int turns_tick(struct session_receive *o, uint64_t now_ns)
{
	struct sensor *list = o->serve.held, *s;

	if (!list)
		return -1;
	if (!o->output->hold.on && now_ns > o->serve.looked_ns + TURNS_HELD_MS * 1000000ULL) {
		o->serve.looked_ns = now_ns;
		o->serve.held = NULL;
		o->pool.waits = false;
		while ((s = list)) {
			list = s->serve.next;
			if (output_holds(o->output, s)) {
				s->serve.next = o->serve.held;
				o->serve.held = s;
			} else {
				release(o, s, now_ns);
			}
		}
	}
	return o->serve.first ? 0 : TURNS_HELD_MS;
}

uint64_t turns_held_ns(const struct sensor *s, uint64_t now_ns)
{
	return s->serve.held_ns + (s->serve.state == TURNS_HELD ? now_ns - s->serve.held_at_ns : 0);
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* A sensor's turn, from monotonic time `*at_ns` on, which is then when it ended. */
static enum split_result turn(struct session_receive *o, struct sensor *s, uint64_t now_ns,
			      uint64_t *at_ns)
{
	enum split_result got = SPLIT_TAKEN;

	s->serve.credit_ns += TURNS_QUANTUM_NS;
	while (s->serve.credit_ns > 0 && got == SPLIT_TAKEN) {
		uint64_t before = *at_ns;

		got = split_next(o, s, now_ns);
		*at_ns = monotonic_ns();
		s->serve.credit_ns -= *at_ns - before;
	}
	if (s->serve.credit_ns < -TURNS_DEBT_NS)
		s->serve.credit_ns = -TURNS_DEBT_NS;
	return got;
}

bool turns_early(struct session_receive *o, struct sensor *s, uint64_t now_ns)
{
	uint64_t before;
	bool taken;

	if (s->serve.state != TURNS_READY || s->serve.credit_ns <= -TURNS_DEBT_NS)
		return false;
	before = monotonic_ns();
	taken = split_next(o, s, now_ns) == SPLIT_TAKEN;
	s->serve.credit_ns -= monotonic_ns() - before;
	return taken;
}

bool turns_serve(struct session_receive *o, uint64_t now_ns)
{
	struct turns *v = &o->serve;
	uint64_t begin = v->first ? monotonic_ns() : 0, at = begin;

	while (v->first && at - begin < TURNS_ROUND_NS) {
		struct sensor *s = queue_take(v);
		enum split_result got = turn(o, s, now_ns, &at);

		if (got == SPLIT_TAKEN)
			queue_append(v, s);
		else if (got == SPLIT_HELD)
			hold(o, s, now_ns);
		else
			tell_released(s, now_ns);
	}
	return v->first;
}

void turns_all(struct session_receive *o, uint64_t now_ns)
{
	while (turns_serve(o, now_ns))
		;
}

void turns_hurry(struct session_receive *o, struct sensor *s, uint64_t now_ns)
{
	uint64_t begin = monotonic_ns();

	if (!rate_limit_takes(&s->serve.hurried, 1, now_ns))
		return;
	while (split_next(o, s, now_ns) == SPLIT_TAKEN && monotonic_ns() - begin < TURNS_HURRY_NS)
		;
}
