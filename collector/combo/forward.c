// SPDX-License-Identifier: GPL-2.0
/* Forward: see forward.h. */
#include "forward.h"

#include "collector/model/sensors.h"
#include "wire/bytes.h"
#include "wire/combo.h"
#include "wire/spool.h"

const uint8_t *forward_open(const struct forward *f, uint8_t *out, size_t *len,
			    const struct sensor *s, uint64_t count, const uint8_t *record)
{
	uint8_t *combo = spool_open(out, len, f->key, s->ledger.run, count, record, *len);

	if (combo && *len >= COMBO_HEADER_LEN)
		store_be(combo + 2, s->id, 2); /* the sensor did not know its id then */
	return combo;
}
