/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compression of one combo with zstd, 802.11 with the dictionary (wire/dictionary.h); context and
 * tables are in memory taken at start.
 * The collector's mirror is collector/combo/decompress.h.
 */
#ifndef WIRE_COMPRESS_H
#define WIRE_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

#define COMPRESS_LEVEL_MIN (-50)
#define COMPRESS_LEVEL_MAX 9
#define COMPRESS_NONE INT32_MIN /* a level: bodies are stored */

struct compress {
	void *memory, *dictionary_memory;
	size_t dictionary_size; /* of the memory */
	size_t size;		/* of a body, usually */
	int level;
	void *parameters;	/* ZSTD_CCtx_params */
	void *context;		/* ZSTD_CCtx, NULL in a zeroed struct, which only stores */
	const void *dictionary; /* ZSTD_CDict for this level, NULL: not made yet */
};

/* `size` is the body's usual size in bytes, which window and tables are chosen for. There is memory
 * for this level and weaker ones. Returns 0, -ENOMEM or -EINVAL. */
int compress_init(struct compress *c, int level, size_t size);
/* From now on, compresses with a level for which there is memory, or COMPRESS_NONE. Allocates
 * nothing. */
void compress_set_level(struct compress *c, int level);
void compress_free(struct compress *c);
/* Writes codec byte and body to `out` (COMBO_CODEC_LEN + len bytes). Stores what does not get
 * smaller, and the body's last `dense` bytes (combo.h) in any case. Returns the bytes written. */
size_t compress_combo(struct compress *c, uint8_t *out, const uint8_t *body, size_t len,
		      size_t dense);

#endif
