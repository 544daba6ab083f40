// SPDX-License-Identifier: GPL-2.0
/* Split: see split.h. Always holds: combos are split in the order of their counts. */
#include "split.h"

#include "combos.h"
#include "gaps.h"
#include "progress.h"
#include "reassemble.h"
#include "runs.h"
#include "sensor.h"

/* A one-way sensor does not know its id, and may send 0. */
uint16_t split_id(const struct sensor *s, const uint8_t *combo, size_t len)
{
	return s->one_way && len >= COMBO_HEADER_LEN && !load_be(combo + 2, 2) ? 0 : s->id;
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
	if (!split_combo(c, s, combo, len, count, now_ns))
		return SPLIT_HELD;
	reassemble_done(&s->combo->reassembly, &c->pool);
	if (s->combo->progress.first.before_ns)
		progress_look(c, s, now_ns);
	return SPLIT_TAKEN;
}
