/* SPDX-License-Identifier: GPL-2.0 */
/* Free space: the space of a file system above --keep-free. */
#ifndef COLLECTOR_MODEL_FREE_SPACE_H
#define COLLECTOR_MODEL_FREE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/space.h"

#define KEEP_FREE_DEFAULT                                                                          \
	{                                                                                          \
		.bytes = 1ULL << 30, .percent = 1                                                  \
	}

/* On a full disk, a small write may succeed after a large one failed. So "writing again" is logged
 * only after this time without a failure. */
#define FREE_SPACE_RECOVERED_NS 1000000000ULL

/* A file system's space in bytes. */
struct free_space {
	uint64_t size, free;
	uint64_t keep; /* --keep-free on it */
};
/* Reads the space of `fd`'s file system. Returns false if it does not report any, as a tmpfs
 * without a limit. */
bool free_space_ask(struct free_space *d, int fd, const struct space *k);
/* Returns whether `len` more bytes leave --keep-free free. If a write already `waits` for space, a
 * part of --keep-free is added, as files are deleted one by one. */
bool free_space_fits(const struct free_space *d, uint64_t len, bool waits);

#endif
