/* SPDX-License-Identifier: GPL-2.0 */
/* Index lay: lays out what was gathered (index_format.h). */
#ifndef ARCHIVE_INDEX_LAY_H
#define ARCHIVE_INDEX_LAY_H

#include "index_gathered.h"

/* Lays the whole index out with this head. The caller frees `*bytes`. Returns 0 or -ENOMEM. */
int index_lay(const struct index_build *b, const struct index_head *head, uint8_t **bytes,
	      size_t *len);

#endif
