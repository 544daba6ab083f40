/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Joins files that parquet.h wrote: copies their row groups into one new file without decoding
 * them, and adjusts the offsets in the footer. Input is untrusted: a malformed file is refused, or
 * makes the new file malformed, but never crashes the program. Functions return 0 or -errno.
 */
#ifndef KEEP_COMPACT_CONCAT_H
#define KEEP_COMPACT_CONCAT_H

#include "keep/parquet/parquet.h"

struct parquet_concat;

/* Begins a file on `fd`, which is written in one pass and remains the caller's. */
int parquet_concat_begin(struct parquet_concat **concat, int fd);

/* Adds all rows of the file `fd`, which must be seekable. -EBADMSG: the file is malformed. -EINVAL:
 * its schema differs from the first file's. These two errors write nothing, and more files can be
 * added. Any other error is final. */
int parquet_concat_add(struct parquet_concat *concat, int fd);

/* Writes the footer, and frees `concat`. The new file's key/value metadata are `pairs` alone.
 * Returns the final error, if there was one; -EINVAL: no file was added. */
int parquet_concat_end(struct parquet_concat *concat, const struct parquet_pair *pairs,
		       uint32_t pair_count, const char *created_by);

/* Frees `concat` without a footer. NULL is fine. */
void parquet_concat_free(struct parquet_concat *concat);

struct parquet_facts {
	int64_t rows;
	uint64_t schema; /* a hash: equal in files that can be joined */
	bool is_ours;	 /* its created_by begins with the program's name */
	char *value;	 /* as of parquet_key_value() */
};

/* Reads the footer. Returns as parquet_key_value(). */
int parquet_facts(int fd, const char *key, const char *program, struct parquet_facts *facts);

/* Reads a file's number of rows, and the metadata value of `key`: NULL if the file has none, else
 * the caller frees it. -EBADMSG: the file is malformed. */
int parquet_key_value(int fd, const char *key, char **value, int64_t *rows);

#endif
