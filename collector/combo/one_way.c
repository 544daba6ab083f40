// SPDX-License-Identifier: GPL-2.0
/*
 * One way: see one_way.h. In: FLOORs, time. Out: combos after a gap and the losses before it, to
 * split.c. Always holds: of the two waiting FLOORs, the first is due first, and the second is the
 * newest.
 */
#include "one_way.h"

#include <string.h>

#include "combos.h"
#include "gaps.h"
#include "reassemble.h"
#include "runs.h"
#include "sensor.h"
#include "turns.h"

void one_way_piece(struct combos *c, struct sensor *s, const struct piece *p, uint64_t now_ns)
{
	reassemble_reach(&s->combo->reassembly, p, ONE_WAY_COMBOS);
	turns_ready(c, s);
	/* The piece is not sent again, so complete combos are taken to make room for it. */
	while (reassemble_is_beyond(&s->combo->reassembly, p) && turns_early(c, s, now_ns))
		;
}

void one_way_session(struct combos *c, struct sensor *s, uint64_t now_ns)
{
	if (runs_must_wait(c, s))
		turns_hurry(c, s, now_ns); /* the sensor cannot be asked to wait */
}

void one_way_floor(struct combos *c, struct sensor *s, uint64_t combo, uint64_t first,
		   uint64_t now_ns)
{
	struct late_floor *floors = s->combo->floors;
	struct late_floor latest = {
		.due_ns = now_ns + ONE_WAY_NS, .run = s->ledger.run, .combo = combo, .first = first
	};

	if (floors[1].due_ns && floors[1].run == latest.run && combo < floors[1].combo)
		return; /* overtaken by a newer one */
	floors[floors[0].due_ns != 0] = latest;
	sensors_due(c->sensors, s, floors[0].due_ns);
}

void one_way_tick(struct combos *c, struct sensor *s, uint64_t now_ns)
{
	struct late_floor *floors = s->combo->floors;

	while (floors[0].due_ns && now_ns >= floors[0].due_ns) {
		struct late_floor f = floors[0];

		floors[0] = floors[1];
		memset(&floors[1], 0, sizeof(floors[1]));
		if (f.run == s->ledger.run)
			gaps_floor(s, f.combo, f.first, ledger_gone);
		turns_ready(c, s);
	}
	if (floors[0].due_ns)
		sensors_due(c->sensors, s, floors[0].due_ns);
}

void one_way_end(struct combos *c, struct sensor *s)
{
	one_way_tick(c, s, UINT64_MAX);
	/* Complete combos after a gap are not sent again either. */
	if (s->combo->reassembly.whole && s->no_acks) {
		gaps_rest(s);
		turns_ready(c, s);
	}
}
