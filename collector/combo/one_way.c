// SPDX-License-Identifier: GPL-2.0
/*
 * One way: see one_way.h. In: FLOORs, time. Out: combos behind a gap, and what is lost of those
 * before it, to split.c. Always holds: of the two FLOORs that wait the first is due first, and
 * the other one is the newest.
 */
#include "one_way.h"

#include <string.h>

#include "collector/network/session_receive.h"
#include "collector/network/messages.h"

void one_way_floor(struct session_receive *o, struct sensor *s, uint64_t combo, uint64_t first,
		   uint64_t now_ns)
{
	struct one_way_floor *floors = s->overdue.floors;
	struct one_way_floor latest = {
		.due_ns = now_ns + ONE_WAY_NS, .run = s->ledger.run, .combo = combo, .first = first
	};

	if (floors[1].due_ns && floors[1].run == latest.run && combo < floors[1].combo)
		return; /* it was overtaken */
	floors[floors[0].due_ns != 0] = latest;
	sensors_due(o->sensors, s, floors[0].due_ns);
}

void one_way_tick(struct session_receive *o, struct sensor *s, uint64_t now_ns)
{
	struct one_way_floor *floors = s->overdue.floors;

	while (floors[0].due_ns && now_ns >= floors[0].due_ns) {
		struct one_way_floor f = floors[0];

		floors[0] = floors[1];
		memset(&floors[1], 0, sizeof(floors[1]));
		if (f.run == s->ledger.run)
			split_past(o, s, f.combo, f.first, ledger_gone);
	}
	if (floors[0].due_ns)
		sensors_due(o->sensors, s, floors[0].due_ns);
}

void one_way_end(struct session_receive *o, struct sensor *s, uint64_t now_ns)
{
	for (int i = 0; i < 2; i++)
		if (s->overdue.floors[i].due_ns)
			s->overdue.floors[i].due_ns = 1;
	one_way_tick(o, s, now_ns);
	/* What is whole behind a gap does not come again either. */
	if (s->reassembly.whole && sensor_is_one_way(s))
		split_rest(o, s);
}
