// SPDX-License-Identifier: GPL-2.0
/*
 * Sink: a collector with this file in the place of collector/combo/split.c. In: complete combos.
 * Out: nothing. It speaks the whole protocol, and neither decompresses combos nor writes frames, so
 * it leaves the bench's second CPU to the sensor. Its ledger counts all frames as lost_disk.
 */
#include "collector/combo/combos.h"
#include "collector/combo/gaps.h"
#include "collector/combo/reassemble.h"
#include "collector/combo/runs.h"
#include "collector/combo/sensor.h"
#include "collector/combo/split.h"

/* The header has no number of frames before the combo: there are none that the ledger does not
 * know, as a FLOOR comes before the combos above it. */
static void sink_combo(struct sensor *s, const uint8_t *combo, size_t len, uint64_t count)
{
	struct combo_header h;

	if (combo_header_read(&h, combo, len, s->id) || h.seqn != (uint16_t)count ||
	    ledger_combo(&s->ledger, s->ledger.now.accounted, h.frames))
		s->ledger.bad_combos++;
	else
		s->ledger.now.lost_disk += h.frames;
}

enum split_result split_next(struct combos *c, struct sensor *s, uint64_t now_ns)
{
	const uint8_t *combo;
	uint64_t count;
	size_t len;

	combo = gaps_whole(c, s, &len, &count);
	if (!combo) {
		if (!s->combo->waiting)
			return SPLIT_NONE;
		if (!runs_begin(c, s))
			return SPLIT_HELD;
		sensors_due(c->sensors, s, now_ns);
		return SPLIT_NONE;
	}
	sink_combo(s, combo, len, count);
	gaps_passed(c, s, count + 1);
	reassemble_done(&s->combo->reassembly, &c->pool);
	return SPLIT_TAKEN;
}
