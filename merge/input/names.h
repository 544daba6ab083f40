/* SPDX-License-Identifier: GPL-2.0 */
/* Names: the files to be read. A folder stands for its pcapng files, in the order of their names.
 * Traces of saluki-merge itself are no input. */
#ifndef MERGE_INPUT_NAMES_H
#define MERGE_INPUT_NAMES_H

#include <stdbool.h>
#include <sys/types.h>

struct name_id {
	dev_t device;
	ino_t inode;
};

struct names {
	char **of;
	struct name_id *ids;
	int count, room;
};

/* Adds a file, or a folder's files. Returns 0, or -errno after a line. */
int names_add(struct names *n, const char *path);
/* Whether the open file is one of them. */
bool names_has(const struct names *n, int fd);
void names_free(struct names *n);

#endif
