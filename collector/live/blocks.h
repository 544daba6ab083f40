/* SPDX-License-Identifier: GPL-2.0 */
/* Blocks: the interface blocks in the table (wire/live.h), by their numbers in the file's section.
 */
#ifndef COLLECTOR_LIVE_BLOCKS_H
#define COLLECTOR_LIVE_BLOCKS_H

#include "live.h"

#define NO_BLOCK UINT32_MAX

/* The file began another section: its interfaces are counted from 0 again. */
void blocks_section(struct live *l, unsigned int section);
/* Adds the section's next interface. */
void blocks_add(struct live *l, const uint8_t *block, uint32_t len);
/* Returns the offset of an interface's block in the half, or NO_BLOCK. */
uint32_t blocks_find(const struct live *l, uint32_t interface);

#endif
