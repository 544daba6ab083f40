/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Outlet: where the blocks go: a file, a series of files, or standard output. If the
 * file exists, the outlet compares its bytes with the new ones, and writes only from the first
 * difference on. So a merge that was killed goes on where it was. A block is never in two files.
 */
#ifndef MERGE_OUTPUT_OUTLET_H
#define MERGE_OUTPUT_OUTLET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/version.h"
#include "pcapng/section.h"

#define OUTLET_BUFFER (1024 * 1024)
#define OUTLET_APPLICATION SECTION_MERGE SALUKI_VERSION /* of all sections */

struct outlet {
	int fd;		       /* -1: none */
	char prefix[PATH_MAX]; /* of names: without ending; "": standard output */
	char name[PATH_MAX];   /* of the present file, for messages */
	uint64_t rotate_bytes; /* 0: one file */
	bool live;	       /* a series does not replace files of another one */
	bool is_file;	       /* not a pipe or device */
	/* Whether a file must not be written to, after a line. May be NULL. */
	bool (*forbidden)(void *context, int fd, const char *name);
	void *context;
	unsigned int number; /* of the present file, from 1; 0: it is not numbered */
	uint8_t *buffer;
	size_t used, room;
	uint64_t at;	/* bytes of the present file without the buffer */
	uint64_t there; /* bytes that were in the file before, and may be equal */
	bool left;	/* the reader of standard output has left */
	int err;	/* the first error, after a line; -EPIPE without one */
};

/* Opens the first file of `write`, a file, a folder, or "-". A folder's files begin with `word`.
 * `forbidden` tells whether a file must not be written to, after a line. Returns 0, or -errno after
 * a line. */
int outlet_open(struct outlet *o, const char *write, const char *word, uint64_t rotate_bytes,
		bool live, bool (*forbidden)(void *context, int fd, const char *name),
		void *context);
/* Returns room for `len` bytes, or NULL after an error. */
uint8_t *outlet_room(struct outlet *o, size_t len);
/* That many bytes of the room are used. */
void outlet_used(struct outlet *o, size_t len);
/* Whether it is time for the next file. */
bool outlet_is_full(const struct outlet *o);
/* Begins the next file. */
int outlet_next(struct outlet *o);
/* Writes what is in the buffer. Returns 0 or the first error. */
int outlet_flush(struct outlet *o);
/* Ends the present file. Returns 0 or the first error. */
int outlet_end(struct outlet *o);
/* Ends the last file. A longer series that was there before has left files that are not of this
 * trace: that is an error. Returns 0 or the first error. */
int outlet_finish(struct outlet *o);
/* Frees everything. The file stays as it is. */
void outlet_free(struct outlet *o);

#endif
