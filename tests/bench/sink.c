// SPDX-License-Identifier: GPL-2.0
/*
 * Sink: a collector with this file in the place of collector/combo/split_combo.c. In: complete
 * combos. Out: nothing. It speaks the whole protocol, and neither decompresses combos nor writes
 * frames, so it leaves the bench's second CPU to the sensor. Its ledger counts all frames as
 * lost_disk.
 */
#include "collector/combo/combos.h"
#include "collector/combo/gaps.h"
#include "collector/combo/sensor.h"
#include "collector/combo/split.h"

/* The header does not tell the number of frames before the combo. The ledger has this number, since
 * the FLOOR after dropped combos comes before the next combo. */
bool split_combo(struct combos *c, struct sensor *s, const uint8_t *combo, size_t len,
		 uint64_t count, uint64_t now_ns)
{
	struct combo_header h;

	(void)now_ns;
	if (combo_header_read(&h, combo, len, s->id) || h.seqn != (uint16_t)count ||
	    ledger_combo(&s->ledger, s->ledger.now.accounted, h.frames))
		s->ledger.bad_combos++;
	else
		s->ledger.now.lost_disk += h.frames;
	gaps_passed(c, s, count + 1);
	return true;
}

/* Only a collector with --source calls these. */
struct unpacked *split_unpack(struct combos *c, struct sensor *s, const uint8_t *combo, size_t len,
			      uint64_t count)
{
	(void)c, (void)s, (void)combo, (void)len, (void)count;
	return NULL;
}

bool split_unpacked(struct combos *c, struct sensor *s, struct unpacked *u, uint64_t count,
		    uint64_t now_ns)
{
	(void)c, (void)s, (void)u, (void)count, (void)now_ns;
	return true;
}
