/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Listing: the capture files of a folder. A file's name without its ending is its stem; its forms
 * stand beside one another: STEM.pcapng as the collector writes it, STEM.pcapng.zst compressed,
 * STEM.idx its index.
 */
#ifndef KEEP_FOLDER_LISTING_H
#define KEEP_FOLDER_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum form {
	FORM_PCAPNG,
	FORM_ZST,
	FORM_INDEX,
	FORMS,
	FORM_NEW = FORMS, /* a form of these that a killed program has not finished */
	FORM_NONE,	  /* others' */
};

struct stem {
	char *name;	     /* malloc */
	char *series;	     /* malloc: what the stems of a series have in common; NULL: of none */
	unsigned int number; /* in the series */
	bool has[FORMS];     /* as regular files */
	uint64_t bytes[FORMS];
	int64_t time_ns;  /* CLOCK_REALTIME: when the capture was written last */
	bool is_followed; /* a later file of the series has begun */
};

struct listing {
	struct stem *list; /* by series, then in the order of writing */
	unsigned int count, room;
};

/* Reads the folder. Returns 0 or -errno. */
int listing_read(struct listing *l, int folder);
void listing_free(struct listing *l);
/* Returns what a name is the form of. Sets `len` to the stem's length. */
enum form form_of(const char *name, size_t *len);
/* Writes the name of a form. `ending`: added to it; "" if none. Returns 0 or -ENAMETOOLONG. */
int form_name(const char *stem, enum form form, const char *ending, char *name, size_t size);

#endif
