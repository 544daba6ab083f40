/* SPDX-License-Identifier: GPL-2.0 */
/* Run: the service. Looks at the folder, packs what is closed, deletes what is too old, and waits
 * until a file of the folder is closed. */
#ifndef KEEP_RUN_H
#define KEEP_RUN_H

#include "options.h"

/* Returns the exit status. */
int run(const struct keep_options *o);

#endif
