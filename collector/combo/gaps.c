// SPDX-License-Identifier: GPL-2.0
/* Gaps: see gaps.h. */
#include "gaps.h"

#include "combos.h"
#include "reassemble.h"
#include "sensor.h"
#include "collector/output/sensor.h"

void gaps_passed(struct combos *c, struct sensor *s, uint64_t next)
{
	if (next > s->output->next)
		output_passed(c->output, s, next, s->ledger.now.accounted);
}

/* Counts the frames missing before the FLOOR, with its reason, once all combos before it are taken.
 * Otherwise the next combo would count them as an ordinary gap. */
static void gap_reached(struct combos *c, struct sensor *s)
{
	if (!s->combo->gap.gone || s->combo->reassembly.next < s->combo->gap.combo)
		return;
	s->combo->gap.gone(&s->ledger, s->combo->gap.first);
	s->combo->gap.gone = NULL;
	gaps_passed(c, s, s->combo->reassembly.next);
}

const uint8_t *gaps_whole(struct combos *c, struct sensor *s, size_t *len, uint64_t *count)
{
	const uint8_t *combo = reassemble_take(&s->combo->reassembly, &c->pool, len, count);

	gap_reached(c, s);
	return combo;
}

void gaps_floor(struct sensor *s, uint64_t combo, uint64_t first,
		int (*gone)(struct ledger *, uint64_t))
{
	if (combo < s->combo->reassembly.next || combo > INT64_MAX ||
	    (s->combo->gap.gone && combo < s->combo->gap.combo))
		return;
	s->combo->gap = (struct gap){ .combo = combo, .first = first, .gone = gone };
	reassemble_floor(&s->combo->reassembly, combo);
}

void gaps_rest(struct sensor *s)
{
	struct reassembly *r = &s->combo->reassembly;

	if (r->held)
		reassemble_floor(r, r->next + REASSEMBLE_SLOTS);
}
