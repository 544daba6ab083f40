/* SPDX-License-Identifier: GPL-2.0 */
/* Blocks: reads a file's blocks, one after the other. In: an untrusted file, which may grow or
 * shrink while it is read: what it has at the start counts. */
#ifndef PCAPNG_BLOCKS_H
#define PCAPNG_BLOCKS_H

#include <sys/types.h>

#include "block.h"

#define BLOCKS_UNTIL_END UINT64_MAX /* a size that is not known before the end */

/* Reads at most `len` bytes at place `at`, which only rises. Returns how many, 0 at the end, or
 * -errno. */
typedef ssize_t (*blocks_read)(void *context, uint8_t *to, size_t len, uint64_t at);

struct blocks {
	int fd; /* the caller's */
	blocks_read read;
	void *context;
	uint64_t at, size; /* of the next block; of the file at the start */
	bool swapped;	   /* the section */
	uint8_t *window;
	uint64_t window_at;
	size_t window_len;
	int err;      /* of the reading, behind the window */
	bool shorter; /* than at the start */
};

/* Returns 0 or -errno. */
int blocks_open(struct blocks *r, int fd);
/* The same for bytes that are made, such as unpacked ones: `size` bytes, or BLOCKS_UNTIL_END.
 * Returns 0 or -ENOMEM. */
int blocks_open_from(struct blocks *r, blocks_read read, void *context, uint64_t size);
/* Reads the next block, which stays until the next call. Returns its length, 0 at the end, or
 * -errno: -EBADMSG if the block is malformed, -ENODATA if the file ends inside it, -ESTALE if the
 * file has become shorter. After an error, `at` is where the block should be. The caller may raise
 * `at` to the begin of a later block. */
int64_t blocks_next(struct blocks *r, struct pcapng_block *b);
/* Returns what an error of blocks_next() means: "malformed block". */
const char *blocks_error(int64_t err);
void blocks_close(struct blocks *r);

#endif
