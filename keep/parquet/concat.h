/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Joins files of parquet.h: their row groups are copied as they are into one new file, with offsets
 * adjusted. Files may be altered or of a stranger: they are refused, or the new file is as wrong.
 * Functions return 0 or -errno.
 */
#ifndef KEEP_PARQUET_CONCAT_H
#define KEEP_PARQUET_CONCAT_H

#include "parquet.h"

struct parquet_concat;

/* Begins a file on `fd`, which is written in one pass and remains the caller's. */
int parquet_concat_begin(struct parquet_concat **concat, int fd);

/* Adds all rows of the file at `fd`, which can seek. -EBADMSG: it is malformed; -EINVAL: its schema
 * is not the first one's. After these two nothing of it has been written, and others can be added.
 * Any other error is for good. */
int parquet_concat_add(struct parquet_concat *concat, int fd);

/* Writes the footer, with `pairs` alone as key/value metadata, unless there was an error for good,
 * which is returned, and frees `concat`. -EINVAL: no file was added. */
int parquet_concat_end(struct parquet_concat *concat, const struct parquet_pair *pairs,
		       uint32_t pair_count, const char *created_by);

/* Frees `concat` without a footer. NULL is fine. */
void parquet_concat_free(struct parquet_concat *concat);

/* Looks up a file's number of rows, and the metadata under `key`: *value is NULL if there is none,
 * else the caller frees it. -EBADMSG: malformed. */
int parquet_key_value(int fd, const char *key, char **value, int64_t *rows);

#endif
