// SPDX-License-Identifier: GPL-2.0
/* Budget: see budget.h. */
#include "budget.h"

#include "collector/model/sensors.h"
#include "sensor.h"

uint64_t budget_room(const struct budget *b)
{
	return b->free > b->keep ? b->free - b->keep : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Whether the disk will be full within so many minutes at the current rate. */
static bool is_short(const struct budget *b, unsigned int minutes)
{
	return b->writers > 1 && budget_room(b) < minutes * b->recent;
}

static uint64_t shares(const struct budget *b)
{
	uint64_t n = least((b->in_reserve ? b->listed : b->writers) + 1, BUDGET_SHARES);

	return b->in_reserve ? least(n, b->reserve / BUDGET_SHARE_MIN) : n;
}

uint64_t budget_share(const struct budget *b)
{
	uint64_t n = shares(b);

	if (!b->on || !b->scarce || b->listed < 2 || n < 2)
		return UINT64_MAX;
	/* A sensor that has spent nothing is never held, even without room. */
	return least((budget_room(b) + b->spent) / n, 2 * budget_room(b)) ?: 1;
}

/* ---- what is recent -------------------------------------------------------------------------- */

/* Decays by a thousandth per thousandth of the time. */
static void recent_decay(struct budget *b, uint64_t now_ns)
{
	/* A caller's time may be some milliseconds old. */
	uint64_t passed = now_ns > b->recent_ns ? now_ns - b->recent_ns : 0;
	uint64_t steps = passed / (BUDGET_RECENT_NS / 1000);

	if (steps >= 1000) {
		b->recent = 0;
		b->recent_ns = now_ns;
		return;
	}
	b->recent -= b->recent / 1000 * steps;
	b->recent_ns += steps * (BUDGET_RECENT_NS / 1000);
}

/* ---- scarce space ---------------------------------------------------------------------------- */

/* Reduces each sensor's `spent` by `part` / `whole`, and counts the sensors. */
static void look(struct budget *b, const struct sensors *sensors, uint64_t part, uint64_t whole,
		 uint64_t now_ns)
{
	b->looked_ns = now_ns;
	b->spent = b->listed = b->writers = 0;
	for (unsigned int i = 0; i < sensors->count; i++) {
		struct sensor *s = sensors->list[i];

		if (part < whole)
			s->output->disk_spent -=
				(uint64_t)((double)s->output->disk_spent * part / whole);
		else
			s->output->disk_spent = 0;
		b->spent += s->output->disk_spent;
		b->listed += s->listed;
		b->writers += s->output->disk_wrote_ns &&
			      now_ns < s->output->disk_wrote_ns + BUDGET_WROTE_NS;
	}
}

static void scarce_begin(struct budget *b, const struct sensors *sensors, uint64_t now_ns)
{
	look(b, sensors, 1, 1, now_ns);
	b->scarce = true;
	b->in_reserve = budget_room(b) < b->reserve;
	b->began = budget_room(b);
}

static void scarce_look(struct budget *b, const struct sensors *sensors, uint64_t now_ns)
{
	uint64_t most = budget_room(b) + b->spent;

	/* Sensors cannot have spent more than is missing: the rest was deleted. */
	look(b, sensors, most > b->began ? most - b->began : 0, b->spent ?: 1, now_ns);
	b->in_reserve = b->in_reserve && budget_room(b) < b->reserve;
	b->scarce = b->scarce && (b->in_reserve || is_short(b, 2));
}

/* ---------------------------------------------------------------------------------------------- */

void budget_asked(struct budget *b, const struct sensors *sensors, uint64_t free, uint64_t keep,
		  uint64_t size, uint64_t now_ns)
{
	b->on = true;
	b->asked_ns = now_ns;
	b->free = free;
	b->keep = keep;
	b->size = size;
	b->reserve = least(size / BUDGET_PART, BUDGET_RESERVE_MAX);
	recent_decay(b, now_ns);
	if ((b->scarce || budget_room(b) < 2 * b->recent) &&
	    now_ns >= b->looked_ns + BUDGET_LOOK_NS)
		scarce_look(b, sensors, now_ns);
}

void budget_spend(struct budget *b, const struct sensors *sensors, struct sensor *s, uint64_t len,
		  uint64_t now_ns)
{
	if (!b->on)
		return;
	recent_decay(b, now_ns);
	b->recent += len;
	b->free -= least(len, b->free);
	s->output->disk_wrote_ns = now_ns;
	s->output->disk_spent += len;
	b->spent += len;
	if (budget_room(b) < b->reserve ? !b->in_reserve : !b->scarce && is_short(b, 1))
		scarce_begin(b, sensors, now_ns);
}
