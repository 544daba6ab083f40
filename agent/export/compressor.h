/* SPDX-License-Identifier: GPL-2.0 */
/* Compressor: compresses closed combos, at a level that it chooses for each. One thread's own. */
#ifndef AGENT_EXPORT_COMPRESSOR_H
#define AGENT_EXPORT_COMPRESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "level.h"
#include "wire/combo.h"
#include "wire/compress.h"

struct compressor {
	struct compress compress;
	struct level level;
	uint32_t body_len;  /* of the last combo */
	unsigned int waits; /* as it was with the last combo */
};

/* What the export thread publishes. */
struct compressor_sight {
	unsigned int waits;  /* how often the export thread had to wait with combos */
	uint32_t store_used; /* part of the store in use, in 1/256 */
};

/* `level` is a level, COMPRESS_NONE or LEVEL_AUTO; `fixed`: LEVEL_AUTO chooses LEVEL_USUAL for all
 * combos. `combo_size` is the usual size of a body. Returns 0, -ENOMEM or -EINVAL. */
int compressor_init(struct compressor *c, int level, bool fixed, size_t combo_size);
void compressor_free(struct compressor *c);
/* Writes a closed combo to `wire` (COMBO_WIRE_MAX bytes), but not its header. `queue_full`: the
 * capture thread waits; `ring_used` as in level.h. Returns the bytes, with the header's. */
size_t compressor_run(struct compressor *c, const struct combo *combo, uint8_t *wire,
		      const struct compressor_sight *sight, bool queue_full, uint32_t ring_used);

#endif
