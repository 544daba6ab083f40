// SPDX-License-Identifier: GPL-2.0
/*
 * One way: see one_way.h. In: FLOORs, time. Out: combos behind a gap, and what is lost of those
 * before it, to split.c. Always holds: of the two FLOORs that wait the first is due first, and
 * the other one is the newest.
 */
#include "one_way.h"

#include <string.h>

#include "combos.h"
#include "runs.h"
#include "sensor.h"
#include "split.h"

void one_way_floor(struct combos *c, struct sensor *s, uint64_t combo, uint64_t first,
		   uint64_t now_ns)
{
	struct one_way_floor *floors = s->combo->overdue.floors;
	struct one_way_floor latest = {
		.due_ns = now_ns + ONE_WAY_NS, .run = s->ledger.run, .combo = combo, .first = first
	};

	if (floors[1].due_ns && floors[1].run == latest.run && combo < floors[1].combo)
		return; /* it was overtaken */
	floors[floors[0].due_ns != 0] = latest;
	sensors_due(c->sensors, s, floors[0].due_ns);
}

void one_way_tick(struct combos *c, struct sensor *s, uint64_t now_ns)
{
	struct one_way_floor *floors = s->combo->overdue.floors;

	while (floors[0].due_ns && now_ns >= floors[0].due_ns) {
		struct one_way_floor f = floors[0];

		floors[0] = floors[1];
		memset(&floors[1], 0, sizeof(floors[1]));
		if (f.run == s->ledger.run)
			split_past(c, s, f.combo, f.first, ledger_gone);
	}
	if (floors[0].due_ns)
		sensors_due(c->sensors, s, floors[0].due_ns);
}

void one_way_end(struct combos *c, struct sensor *s, uint64_t now_ns)
{
	for (int i = 0; i < 2; i++)
		if (s->combo->overdue.floors[i].due_ns)
			s->combo->overdue.floors[i].due_ns = 1;
	one_way_tick(c, s, now_ns);
	/* What is whole behind a gap does not come again either. */
	if (s->combo->reassembly.whole && sensor_is_one_way(s))
		split_rest(c, s);
}
