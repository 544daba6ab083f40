// SPDX-License-Identifier: GPL-2.0
/* Ahead, the plan: see ahead.h. In: the order of turns. Out: the combos that come next. */
#include "ahead.h"

#include "combos.h"
#include "sensor.h"
#include "split.h"

/* Lists a sensor's complete combos from its next one on, up to `limit` in `list`. Returns the new
 * length of the list. Combos from a spool are encrypted, so only the main thread unpacks them. */
static unsigned int list_sensor(struct ahead_combo *list, unsigned int count, unsigned int limit,
				const struct sensor *s)
{
	const struct reassembly *r = &s->combo->reassembly;
	uint64_t next = r->next;

	for (; count < limit && !s->combo->forward.id; count++, next++) {
		const struct reassemble_pool_slot *slot = reassemble_pool_find(r, next);

		if (!reassemble_pool_whole(slot) || slot->count != next ||
		    slot->total > COMBO_WIRE_MAX)
			break;
		list[count] = (struct ahead_combo){ s, slot->data, slot->total, next,
						    split_id(s, slot->data, slot->total) };
	}
	return count;
}

void ahead_plan(struct combos *c, const struct sensor *s)
{
	struct ahead_combo list[1 + AHEAD_JOBS];
	const struct sensor *other = c->turns.first;
	unsigned int count, most = other ? AHEAD_JOBS_EACH : AHEAD_JOBS;

	if (!c->ahead.jobs)
		return;
	count = list_sensor(list, 0, 1 + most, s);
	if (!count)
		list[count++] = (struct ahead_combo){ 0 }; /* the main thread's */
	for (int i = 0; other && i < AHEAD_JOBS; i++, other = other->combo->turn.next) {
		most = count + AHEAD_JOBS_EACH;
		most = most < 1 + AHEAD_JOBS ? most : 1 + AHEAD_JOBS;
		count = list_sensor(list, count, most, other);
	}
	ahead_submit(&c->ahead, list, count);
}
