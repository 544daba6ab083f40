// SPDX-License-Identifier: GPL-2.0
/*
 * Turns: see turns.h. Always holds: a sensor is in the queue, in the list of held sensors, or in
 * neither. A sensor in neither has no combo to take.
 */
#include "turns.h"

#include "ahead.h"
#include "combos.h"
#include "common/log.h"
#include "common/monotonic.h"
#include "gaps.h"
#include "sensor.h"
#include "split.h"
#include "collector/output/output_hold.h"
#include "collector/output/sensor.h"

/* ---- the queue ------------------------------------------------------------------------------- */

static void queue_append(struct turns *v, struct sensor *s)
{
	s->combo->turn.state = TURNS_READY;
	s->combo->turn.next = NULL;
	if (v->last)
		v->last->combo->turn.next = s;
	else
		v->first = s;
	v->last = s;
}

static struct sensor *queue_take(struct turns *v)
{
	struct sensor *s = v->first;

	v->first = s->combo->turn.next;
	if (!v->first)
		v->last = NULL;
	s->combo->turn.state = TURNS_IDLE;
	return s;
}

/* Queues a sensor that is in neither list, for a turn of full length. */
static void queue_begin(struct combos *c, struct sensor *s)
{
	if (s->combo->turn.state != TURNS_IDLE)
		return;
	s->combo->turn.credit_ns = 0;
	queue_append(&c->turns, s);
}

void turns_ready(struct combos *c, struct sensor *s)
{
	uint64_t count;
	size_t len;

	if (gaps_whole(c, s, &len, &count))
		queue_begin(c, s);
}

/* ---- held sensors ---------------------------------------------------------------------------- */

/* Logs that one sensor is held. If the disk is full, output_hold.c has logged that for all
 * sensors. */
static void log_held(struct combos *c, struct sensor *s, uint64_t now_ns)
{
	struct turn *v = &s->combo->turn;

	if (c->output->hold.on || c->output->sink || v->logged ||
	    (v->logged_ns && now_ns - v->logged_ns < TURNS_LOG_NS))
		return;
	log_line("sensor %s: has used its share of the disk (%llu of %llu kB above --keep-free); "
		 "its frames wait at the sensor until there is more room",
		 s->name, (unsigned long long)(budget_share(&c->output->budget) / 1000),
		 (unsigned long long)(budget_room(&c->output->budget) / 1000));
	v->logged = true;
	v->logged_ns = now_ns;
}

static void hold(struct combos *c, struct sensor *s, uint64_t now_ns)
{
	s->combo->turn.state = TURNS_HELD;
	s->combo->turn.held_at_ns = now_ns;
	s->combo->turn.next = c->turns.held;
	c->turns.held = s;
	/* Its combos are not taken soon, so they must not evict other sensors' combos. */
	s->combo->reassembly.waits = true;
	c->pool.waits = output_holds_all(c->output);
	log_held(c, s, now_ns);
}

void turns_wait(struct combos *c, struct sensor *s, uint64_t now_ns)
{
	if (s->combo->turn.state == TURNS_IDLE)
		hold(c, s, now_ns);
}

static void release(struct combos *c, struct sensor *s, uint64_t now_ns)
{
	s->combo->turn.held_ns += now_ns - s->combo->turn.held_at_ns;
	s->combo->turn.state = TURNS_IDLE;
	s->combo->reassembly.waits = false;
	queue_begin(c, s);
}

void turns_release(struct combos *c, uint64_t now_ns)
{
	struct sensor *list = c->turns.held, *s;

	c->turns.held = NULL;
	while ((s = list)) {
		list = s->combo->turn.next;
		release(c, s, now_ns);
	}
}

/* Logs the end of a hold, after a turn in which the sensor was not held again. */
static void log_released(struct sensor *s, uint64_t now_ns)
{
	if (!s->combo->turn.logged || now_ns - s->combo->turn.logged_ns < TURNS_LOG_NS)
		return;
	log_line("sensor %s: its frames are written again", s->name);
	s->combo->turn.logged = false;
}

int turns_tick(struct combos *c, uint64_t now_ns)
{
	int wait_ms = c->output->sink ? TURNS_SINK_MS : TURNS_HELD_MS;
	struct sensor *list = c->turns.held, *s;

	if (!list)
		return -1;
	if (!output_holds_all(c->output) && now_ns > c->turns.looked_ns + wait_ms * 1000000ULL) {
		c->turns.looked_ns = now_ns;
		c->turns.held = NULL;
		c->pool.waits = false;
		while ((s = list)) {
			list = s->combo->turn.next;
			if (output_holds(c->output, s)) {
				s->combo->turn.next = c->turns.held;
				c->turns.held = s;
			} else {
				release(c, s, now_ns);
			}
		}
	}
	return c->turns.first ? 0 : wait_ms;
}

uint64_t turns_held_ns(const struct sensor *s, uint64_t now_ns)
{
	return s->combo->turn.held_ns +
	       (s->combo->turn.state == TURNS_HELD ? now_ns - s->combo->turn.held_at_ns : 0);
}

bool turns_holds(const struct combos *c, const struct sensor *s)
{
	return s->combo->turn.state == TURNS_HELD ||
	       (output_holds_all(c->output) && s->output->pending);
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Takes a sensor's next combo from monotonic time `*at_ns` on. Sets `*at_ns` to the end. The time
 * of both threads counts for the sensor. */
static enum split_result take_combo(struct combos *c, struct sensor *s, uint64_t now_ns,
				    uint64_t *at_ns)
{
	uint64_t before = *at_ns;
	enum split_result got;

	c->ahead.spent_ns = 0;
	got = split_next(c, s, now_ns);
	*at_ns = monotonic_ns();
	s->combo->turn.credit_ns -= (int64_t)(*at_ns - before) + c->ahead.spent_ns;
	return got;
}

/* Gives a sensor a turn that starts at monotonic time `*at_ns`. Sets `*at_ns` to its end. */
static enum split_result turn(struct combos *c, struct sensor *s, uint64_t now_ns, uint64_t *at_ns)
{
	enum split_result got = SPLIT_TAKEN;

	s->combo->turn.credit_ns += TURNS_QUANTUM_NS;
	while (s->combo->turn.credit_ns > 0 && got == SPLIT_TAKEN) {
		ahead_plan(c, s);
		got = take_combo(c, s, now_ns, at_ns);
	}
	if (s->combo->turn.credit_ns < -TURNS_DEBT_NS)
		s->combo->turn.credit_ns = -TURNS_DEBT_NS;
	return got;
}

bool turns_early(struct combos *c, struct sensor *s, uint64_t now_ns)
{
	uint64_t at;

	if (s->combo->turn.state != TURNS_READY || s->combo->turn.credit_ns <= -TURNS_DEBT_NS)
		return false;
	at = monotonic_ns();
	return take_combo(c, s, now_ns, &at) == SPLIT_TAKEN;
}

bool turns_serve(struct combos *c, uint64_t now_ns)
{
	struct turns *v = &c->turns;
	uint64_t begin = v->first ? monotonic_ns() : 0, at = begin;

	while (v->first && at - begin < TURNS_ROUND_NS) {
		struct sensor *s = queue_take(v);
		enum split_result got = turn(c, s, now_ns, &at);

		if (got == SPLIT_TAKEN)
			queue_append(v, s);
		else if (got == SPLIT_HELD)
			hold(c, s, now_ns);
		else
			log_released(s, now_ns);
	}
	return v->first;
}

void turns_all(struct combos *c, uint64_t now_ns)
{
	while (turns_serve(c, now_ns))
		;
}

void turns_hurry(struct combos *c, struct sensor *s, uint64_t now_ns)
{
	uint64_t begin = monotonic_ns();

	if (!rate_limit_takes(&s->combo->turn.hurried, 1, now_ns))
		return;
	while (split_next(c, s, now_ns) == SPLIT_TAKEN && monotonic_ns() - begin < TURNS_HURRY_NS)
		;
}
