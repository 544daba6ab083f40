// SPDX-License-Identifier: GPL-2.0
/* The hash that shows that an index is damaged. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "index_format.h"

uint64_t index_hash(const uint8_t *bytes, uint64_t len)
{
	return bytes ? XXH64(bytes, len, 0) : 0;
}
