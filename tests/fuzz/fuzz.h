/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included by every fuzz harness. libFuzzer calls LLVMFuzzerTestOneInput with bytes of its own. A
 * harness takes them apart, hands them to the code under test, and CHECKs the invariants.
 * Sanitizers check the rest, so bytes to be parsed are in blocks of exactly their size.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			dprintf(2, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #what);       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* The input, read from its front; after its end, reads give 0 and no bytes. */
struct fuzz_input {
	const uint8_t *p, *end;
};

static inline uint64_t fuzz_number(struct fuzz_input *in, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes && in->p < in->end; i++)
		v |= (uint64_t)*in->p++ << 8 * i;
	return v;
}

/* Returns the next bytes, `max` at most; their number is in `len`. */
static inline const uint8_t *fuzz_bytes(struct fuzz_input *in, size_t max, size_t *len)
{
	const uint8_t *p = in->p;

	*len = (size_t)(in->end - p) < max ? (size_t)(in->end - p) : max;
	in->p += *len;
	return p;
}

/* Returns a copy of exactly `len` bytes: the next byte is poisoned, even after an empty copy. */
static inline uint8_t *fuzz_copy(const uint8_t *data, size_t len)
{
	uint8_t *block = malloc(len + 1);

	memcpy(block + 1, data, len);
	return block + 1;
}

static inline void fuzz_free(uint8_t *copy)
{
	free(copy - 1);
}

/* Reads every byte, so that sanitizers find an invalid one. */
static inline void fuzz_touch(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		__asm__ volatile("" : : "r"(p[i]));
}

/* Returns a file in memory with these bytes, at its beginning; the caller closes it. */
static inline int fuzz_file(const void *data, size_t len)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK(pwrite(fd, data, len, 0) == (ssize_t)len);
	return fd;
}

/* Discards the messages of the code under test; libFuzzer and CHECK bypass this. */
static inline void fuzz_quiet(void)
{
	FILE *nowhere = fopen("/dev/null", "w");

	CHECK(nowhere);
	stderr = nowhere;
}

#endif
