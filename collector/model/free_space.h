/* SPDX-License-Identifier: GPL-2.0 */
/* Free space: what a file system has left above --keep-free. */
#ifndef COLLECTOR_MODEL_FREE_SPACE_H
#define COLLECTOR_MODEL_FREE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

/* --keep-free: bytes, or a percentage of the file system. */
struct keep_free {
	uint64_t bytes;	      /* with a percentage, at most so many */
	unsigned int percent; /* 0: bytes alone */
};

#define KEEP_FREE_DEFAULT                                                                          \
	{                                                                                          \
		.bytes = 1ULL << 30, .percent = 1                                                  \
	}

/* On a full disk a small write may fit where a large one did not. "Writing again" is logged when no
 * write has failed for so long. */
#define FREE_SPACE_RECOVERED_NS 1000000000ULL

/* What --keep-free means on a file system of so many bytes. */
uint64_t keep_free_bytes(const struct keep_free *k, uint64_t size);
/* What a file system has, in bytes. */
struct free_space {
	uint64_t size, free;
	uint64_t keep; /* keep_free_bytes() */
};
/* Asks the file system that has the file `fd`. Returns whether it says: a tmpfs without a limit
 * does not. */
bool free_space_ask(struct free_space *d, int fd, const struct keep_free *k);
/* Whether --keep-free is still free after `len` more bytes. What `waits` for room already needs a
 * part of that more: files are deleted one by one. */
bool free_space_fits(const struct free_space *d, uint64_t len, bool waits);

#endif
