/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Series: the names of output files in a folder, or with a prefix. Numbers continue those of
 * earlier collectors, so they give the order in which the files were written. With -G, a prefix may
 * have conversions of strftime(3).
 */
#ifndef COLLECTOR_FILES_SERIES_H
#define COLLECTOR_FILES_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "archive/series_name.h"
#include "collector/model/settings.h"

/* A series' location: `path` of -w, a folder or the names' prefix. */
struct series {
	const char *path;
	bool is_dir;
	bool has_time; /* the prefix has conversions */
};

struct series series_of(const struct collector_options *o, bool is_dir);
/* Checks the conversions. Returns NULL, or the error. */
const char *series_wrong(const struct series *s);
/* Writes what its names have in common: the prefix, with its conversions, and the ending. Returns 0
 * or -ENAMETOOLONG. */
int series_base(const struct series *s, char *base, size_t size);
/* Writes PREFIX_NNNNN_YYYYmmddHHMMSS.pcapng with the current time, or PREFIX_NNNNN.pcapng with the
 * time in its prefix. Returns 0 or -ENAMETOOLONG. */
int series_name(const struct series *s, unsigned int number, char *name, size_t size);
/* Lists the existing files, the oldest first; the caller frees list and names. Of a file that
 * saluki-keep has compressed, its index is listed. Sets `next` to the following number. Returns the
 * number of files, or -errno. */
int series_list(const struct series *s, char ***list, unsigned int *next);
/* Whether this is the name of an index. */
bool series_is_index(const char *name);
/* Whether an opened file has a section header and nothing else. */
bool series_is_empty(int fd);

#endif
