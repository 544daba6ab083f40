/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Form: the files that a capture file can be. Its name without ending is its stem: STEM.pcapng as
 * the collector writes it, STEM.pcapng.zst compressed, STEM.idx its index.
 */
#ifndef KEEP_FOLDER_FORM_H
#define KEEP_FOLDER_FORM_H

#include <limits.h>
#include <stddef.h>

enum form {
	FORM_PCAPNG,
	FORM_ZST,
	FORM_INDEX,
	FORMS,
	FORM_NONE = FORMS, /* others' */
};

/* Returns what a name is the form of. Sets `len` to the stem's length. */
enum form form_of(const char *name, size_t *len);
/* Writes the name of a form. `ending`: added to it; "" if none. Returns 0 or -ENAMETOOLONG. */
int form_name(const char *stem, enum form form, const char *ending, char *name, size_t size);
/* Opens a form for reading, and sets `name`. Follows no link. Returns a descriptor or -errno. */
int form_open(int folder, const char *stem, enum form form, char name[NAME_MAX + 1]);

#endif
