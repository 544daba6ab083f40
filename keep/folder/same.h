/* SPDX-License-Identifier: GPL-2.0 */
/* Same: whether two forms of a stem (form.h) are of one capture. */
#ifndef KEEP_FOLDER_SAME_H
#define KEEP_FOLDER_SAME_H

#include <stdbool.h>
#include <stdint.h>

#include "archive/index.h"
#include "listing.h"

/* A program that was killed can have compressed a capture, and not have removed it: then the index
 * beside both says so. Returns 0 if it does, or if there is no compressed file; -EEXIST if that
 * file is of another capture. `bytes`: of the capture file. */
int same_capture(int folder, const char *stem, uint64_t bytes);

/* Whether an index can be of a stem's capture, by the sizes alone. */
bool same_sizes(const struct index_head *head, const struct stem *s);

#endif
