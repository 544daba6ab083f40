/* SPDX-License-Identifier: GPL-2.0 */
/* Texts: gives each distinct text of a row group a number, for dictionaries. */
#ifndef KEEP_COLUMNS_TEXTS_H
#define KEEP_COLUMNS_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "keep/parquet/parquet.h"

#define TEXTS_NONE UINT32_MAX

struct texts {
	uint64_t secret; /* against texts that are chosen to collide */
	struct parquet_text *list;
	uint64_t *hashes; /* by number */
	uint32_t count, room;
	uint32_t *slots; /* hash table of numbers; a power of two */
	uint32_t slot_count;
	struct texts_memory *memory; /* of the texts' bytes */
};

/* Returns 0 or -ENOMEM. */
int texts_init(struct texts *t);
void texts_free(struct texts *t);
/* Forgets all. */
void texts_reset(struct texts *t);
/* Returns the number, or TEXTS_NONE without memory. */
uint32_t texts_number(struct texts *t, const char *bytes, uint32_t len);
/* The same for an address of 6 bytes, whose text is 00:11:22:aa:bb:cc. A table has either addresses
 * or other texts. */
uint32_t texts_address(struct texts *t, const uint8_t address[6]);

#endif
