/* SPDX-License-Identifier: GPL-2.0 */
/* Decompression of one combo within a fixed limit. Mirror of wire/compress.h. */
#ifndef COLLECTOR_COMBO_DECOMPRESS_H
#define COLLECTOR_COMBO_DECOMPRESS_H

#include <stddef.h>
#include <stdint.h>

#include "wire/combo.h"

struct decompress {
	void *context;	  /* ZSTD_DCtx */
	void *dictionary; /* ZSTD_DDict of COMBO_ZSTD_DOT11 */
};

int decompress_init(struct decompress *d); /* returns 0 or -ENOMEM */
void decompress_free(struct decompress *d);
/* Returns the body of a combo with a valid header, `h->body_len` bytes, in `room` or in `combo`;
 * NULL if its decompressed length differs. */
const uint8_t *decompress_combo(struct decompress *d, const struct combo_header *h,
				const uint8_t *combo, size_t len, uint8_t room[COMBO_BODY_MAX]);

#endif
