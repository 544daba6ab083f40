/* SPDX-License-Identifier: GPL-2.0 */
/* Read names: reads the indexes of a folder for their names, the newest first. */
#ifndef KEEP_EXTCAP_READ_NAMES_H
#define KEEP_EXTCAP_READ_NAMES_H

#include <stdbool.h>

#include "names.h"

/* Returns whether all names are known: not if there are none, or too many, or if reading takes more
 * than a second. No error is logged. Confines the process to the folder. */
bool read_names(struct names *n, const char *folder);

#endif
