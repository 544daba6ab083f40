/* SPDX-License-Identifier: GPL-2.0 */
/* Output file: opens what -w names, unless that would destroy what is searched. */
#ifndef KEEP_FIND_OUTPUT_FILE_H
#define KEEP_FIND_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>

/* `read`: it is a regular file that is read later. `folder`: a descriptor of the folder that is
 * searched. `key`: the file of --pseudonyms, or NULL. A regular file is locked, so that saluki-keep
 * leaves it alone until it is whole. Returns a descriptor; -EPERM after a line if the file is in
 * the folder, or is the key; or -errno after a line. */
int output_file_open(const char *write, bool read, int folder, const char *key);

/* What was written becomes tables, which have the file's name. */
struct output_tables {
	char stem[NAME_MAX + 1];
	int folder; /* a descriptor */
};

/* Locks the folder of the tables, which is not that of a saluki-keep. Returns 0, or -errno after a
 * line. */
int output_tables_open(struct output_tables *t, const char *columns, const char *write);

#endif
