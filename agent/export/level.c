// SPDX-License-Identifier: GPL-2.0
/* Level: see level.h. */
#include "level.h"

#include <string.h>

#define USUAL 3 /* the step of LEVEL_USUAL */
#define STORE_HALF 128
#define STORE_LITTLE 32
#define RING_QUARTER 64

/* Levels above 6 make combos of 14 KB less than 1 % smaller for twice the time. Levels between
 * these are between them in time and bytes. */
static const int levels[LEVEL_STEPS] = { COMPRESS_NONE, -10, -3, LEVEL_USUAL, 3, 6 };

void level_init(struct level *l, bool automatic, int fixed)
{
	memset(l, 0, sizeof(*l));
	l->automatic = automatic;
	l->fixed = fixed;
	l->step = USUAL;
	/* A 32-bit machine has neither the memory nor the CPU for stronger levels. */
	l->top = sizeof(size_t) == 4 ? USUAL : LEVEL_STEPS - 1;
	l->hold_ns = LEVEL_HOLD_MIN_NS;
	l->now = automatic ? LEVEL_USUAL : fixed;
}

int level_strongest(const struct level *l)
{
	return l->automatic ? levels[l->top] : l->fixed;
}

static void add(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

static void change(struct level *l, unsigned int step, bool back, uint64_t now_ns)
{
	l->step = step;
	l->back = back;
	l->changed_ns = now_ns;
	add(&l->changes);
	__atomic_store_n(&l->now, levels[step], __ATOMIC_RELAXED);
}

/* The step is needed. If it was left too early, the next time it is kept for longer. */
static void needed(struct level *l, uint64_t now_ns)
{
	l->needed_ns = now_ns;
	if (!l->back)
		return;
	l->hold_ns *= l->hold_ns < LEVEL_HOLD_MAX_NS ? 2 : 1;
	l->back = false;
}

/* ---- the CPU is the limit -------------------------------------------------------------------- */

/* Returns the cheapest known step below the usual one or at it; or the next lower one, if it is not
 * known. Small differences are noise. */
static unsigned int cheapest(const struct level *l)
{
	unsigned int best = l->step;

	for (unsigned int i = 0; i <= USUAL; i++)
		if (l->cost[i] && l->cost[i] < l->cost[best] - l->cost[best] / 16)
			best = i;
	return best && !l->cost[best - 1] ? best - 1 : best;
}

/* Whether the CPU is the limit: the network takes all combos at once, and the capture thread waits
 * for this one; or both share a CPU, and frames wait in the ring. Without a session, and while the
 * network is slow, frames wait there too. */
static bool is_pressed(const struct level_sight *s)
{
	return !s->blocked && (s->queue_full || s->ring_used >= RING_QUARTER);
}

static void press(struct level *l, const struct level_sight *s)
{
	unsigned int best;
	uint64_t cpu_ns;

	if (l->pressed) {
		l->bytes += s->body_len;
	} else {
		l->bytes = 0;
		l->from_ns = s->cpu_ns();
		l->ring_used = s->ring_used;
	}
	if (l->pressed++ < LEVEL_PRESSED)
		return;
	cpu_ns = s->cpu_ns() - l->from_ns;
	l->pressed = 0;
	if (s->ring_used < l->ring_used) /* it empties, as after an outage */
		return;
	needed(l, s->now_ns);
	/* After a minute, the costs are those of other frames. */
	if (l->step > USUAL || (l->step < USUAL && s->now_ns > l->changed_ns + LEVEL_OLD_NS)) {
		memset(l->cost, 0, sizeof(l->cost));
		change(l, USUAL, false, s->now_ns);
		return;
	}
	l->cost[l->step] = l->bytes ? cpu_ns * 1000 / l->bytes + 1 : 1;
	best = cheapest(l);
	if (best != l->step)
		change(l, best, false, s->now_ns);
}

/* ---- the network is the limit, or nothing ---------------------------------------------------- */

static void raise(struct level *l, uint64_t now_ns)
{
	needed(l, now_ns);
	if (l->step < l->top && now_ns >= l->changed_ns + LEVEL_RAISE_NS)
		change(l, l->step + 1, false, now_ns);
}

static void relax(struct level *l, uint64_t now_ns)
{
	if (l->step == USUAL && now_ns > l->changed_ns + LEVEL_OLD_NS) {
		l->hold_ns = LEVEL_HOLD_MIN_NS;
		l->back = false;
	}
	if (l->step == USUAL || now_ns < l->needed_ns + l->hold_ns ||
	    now_ns < l->changed_ns + l->hold_ns)
		return;
	change(l, l->step < USUAL ? l->step + 1 : l->step - 1, true, now_ns);
	if (l->step == USUAL) /* the frames may be others the next time */
		memset(l->cost, 0, sizeof(l->cost));
}

int level_next(struct level *l, const struct level_sight *s)
{
	if (!l->automatic)
		return l->fixed;
	if (is_pressed(s)) {
		press(l, s);
	} else {
		l->pressed = 0;
		if (s->store_used >= STORE_HALF && s->blocked)
			raise(l, s->now_ns);
		else if (l->step < USUAL || s->store_used < STORE_LITTLE)
			relax(l, s->now_ns);
	}
	if (l->step < USUAL)
		add(&l->lowered);
	else if (l->step > USUAL)
		add(&l->raised);
	return levels[l->step];
}
