/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Object: reads a module's file once. In: a path. Out: its bytes in memory and their BLAKE2b-256.
 * Always holds: the file is not read again; these bytes are checked, linked and loaded. Symbolic
 * links are followed, as the signature covers the bytes, not their place.
 */
#ifndef AGENT_MODULE_OBJECT_H
#define AGENT_MODULE_OBJECT_H

#include <stddef.h>
#include <stdint.h>

#define OBJECT_MAX (1 << 20) /* bytes */
#define OBJECT_HASH_LEN 32

struct module_object {
	uint8_t *data; /* aligned as by malloc(3) */
	size_t len;
	uint8_t hash[OBJECT_HASH_LEN];
};

/* Read a whole regular file of 1 to `max` bytes and a terminating 0 into memory that the caller
 * frees. The first function takes an open file. Return 0, or -errno after a line that names
 * `path`. */
int file_read(int fd, const char *path, size_t max, uint8_t **data, size_t *len);
int file_open_read(const char *path, size_t max, uint8_t **data, size_t *len);

/* Returns 0, or -errno after a line. */
int object_read(struct module_object *o, const char *path);
void object_free(struct module_object *o);

#endif
