/* SPDX-License-Identifier: GPL-2.0 */
/* Run: one merge, from its inputs to its outputs. */
#ifndef MERGE_RUN_H
#define MERGE_RUN_H

#include "options.h"

/* Returns the exit status. */
int run(const struct merge_options *o);

#endif
