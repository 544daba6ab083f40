/* SPDX-License-Identifier: GPL-2.0 */
/* Plan: which files of a day are joined next. */
#ifndef KEEP_COMPACT_PLAN_H
#define KEEP_COMPACT_PLAN_H

#include "day.h"

/* Chooses files of one schema, in their order, that have at most `most` bytes together. Returns
 * their bytes; 0: no two files fit. */
uint64_t plan(struct day *d, uint64_t most);

#endif
