/* SPDX-License-Identifier: GPL-2.0 */
/* Directory: lists a folder that is open, and tells names by their endings. */
#ifndef COMMON_DIRECTORY_H
#define COMMON_DIRECTORY_H

#include <dirent.h>
#include <stdbool.h>

/* Returns a stream of the folder's names, from the first one on, or NULL with errno. The descriptor
 * stays the caller's. */
DIR *directory_list(int folder);
/* Whether a name has this ending, and something before it. */
bool directory_ending(const char *name, const char *ending);

#endif
