/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Series: the names of output files in a folder, or with a prefix. Numbers continue those of
 * earlier collectors, so they give the order in which the files were written.
 */
#ifndef COLLECTOR_FILES_SERIES_H
#define COLLECTOR_FILES_SERIES_H

#include <stdbool.h>
#include <stddef.h>

/* A series' location: `path` of -w, a folder or the names' prefix. */
struct series {
	const char *path;
	bool is_dir;
};

/* Writes PREFIX_NNNNN_YYYYmmddHHMMSS.pcapng with the current time. Returns 0 or -ENAMETOOLONG. */
int series_name(const struct series *s, unsigned int number, char *name, size_t size);
/* Lists the existing files, the oldest first; the caller frees list and names. Sets `next` to the
 * following number. Returns the number of files, or -errno. */
int series_list(const struct series *s, char ***list, unsigned int *next);

#endif
