/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Series: the names of output files in a folder, or with a prefix. Numbers go on where those of
 * earlier collectors ended, so that their order is that in which the files were written.
 */
#ifndef COLLECTOR_FILES_SERIES_H
#define COLLECTOR_FILES_SERIES_H

#include <stdbool.h>
#include <stddef.h>

/* Where a series is: `path` is -w's, a folder or the beginning of names. */
struct series {
	const char *path;
	bool is_dir;
};

/* PREFIX_NNNNN_YYYYmmddHHMMSS.pcapng, of now. Returns 0 or -ENAMETOOLONG. */
int series_name(const struct series *s, unsigned int number, char *name, size_t size);
/* Lists the files that are there, the oldest first; list and names are the caller's to free.
 * `next` becomes the number that follows. Returns how many, or -errno. */
int series_list(const struct series *s, char ***list, unsigned int *next);

#endif
