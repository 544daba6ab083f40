/* SPDX-License-Identifier: GPL-2.0 */
/* Lock: one program works in a folder of captures, and in a folder of tables, which belongs to one
 * folder of captures: files of the same name would replace each other. */
#ifndef KEEP_PROCESS_LOCK_H
#define KEEP_PROCESS_LOCK_H

#include <stdint.h>

/* Each locks an open folder until the program ends; `name` is for messages. Returns the lock's
 * descriptor, or -errno after a line. */
int lock_captures(int folder, const char *name);
/* The folder of the captures may have been moved: then its indexes have the number, and the old
 * path leads nowhere. `captures`: the path of the captures whose tables these are; NULL: of none,
 * and the folder must not have those of others. Sets the folder's number, which is random, and not
 * 0. */
int lock_columns(int folder, const char *name, const char *captures, uint64_t *number);

#endif
