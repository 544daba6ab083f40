/* SPDX-License-Identifier: GPL-2.0 */
/* Names: the files to be read. A folder stands for its pcapng files, in the order of their names.
 * Traces of saluki-merge itself are no input. */
#ifndef MERGE_INPUT_NAMES_H
#define MERGE_INPUT_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct input_file {
	char *name;
	int fd; /* -1: not open */
	dev_t device;
	ino_t inode;
	bool in_folder; /* only its folder was named */
	bool left_out;	/* it was said that it cannot be read to its end */
};

struct names {
	struct input_file *list;
	int count, room;
};

/* Adds a file, or a folder's files. Returns 0, or -errno after a line. */
int names_add(struct names *n, const char *path);
/* Opens all files. A file that is no capture is an error. If only its folder was named, it is left
 * out after a line, and `bad` counts it. Returns 0, or -errno after a line. */
int names_open(struct names *n, uint64_t *bad);
/* Whether the open file is one of them. */
bool names_has(const struct names *n, int fd);
/* Closes the files. */
void names_free(struct names *n);

#endif
