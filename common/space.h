/* SPDX-License-Identifier: GPL-2.0 */
/* Space on a disk, as an option gives it: a size (500M, 2G), or a percentage of the file system. */
#ifndef COMMON_SPACE_H
#define COMMON_SPACE_H

#include <stdint.h>

struct space {
	uint64_t bytes;	      /* with a percentage: the upper limit */
	unsigned int percent; /* 0: only bytes */
};

/* Reads a number with an optional suffix K, M, G or T (powers of 1024), or a percentage from 0% to
 * 99%. Returns 0, or -EINVAL after a line that names the option `flag`. */
int space_parse(const char *flag, const char *text, struct space *s);
/* Returns the bytes of `s` on a file system of `size` bytes. */
uint64_t space_of(const struct space *s, uint64_t size);

#endif
