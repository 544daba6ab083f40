/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names: sensors and their groups, as the indexes of a folder have them. In: untrusted
 * indexes. Always holds: a name can stand in an answer to Wireshark; others are left out. Each
 * sensor is listed once, with the group of the newest index.
 */
#ifndef KEEP_EXTCAP_NAMES_H
#define KEEP_EXTCAP_NAMES_H

#include "archive/index_read.h"

#define NAMES_MAX 4096

struct names {
	struct name {
		char name[INDEX_NAME_MAX], group[INDEX_NAME_MAX]; /* group "": none */
	} * list;						  /* by name */
	unsigned int count, room;
};

/* Adds an index's names. Returns 0, -E2BIG above NAMES_MAX, or -ENOMEM. */
int names_index(struct names *n, const struct index *x);
void names_free(struct names *n);

#endif
