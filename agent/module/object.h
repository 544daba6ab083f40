/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Object: a module's file, read once. In: a path. Out: its bytes in memory and their BLAKE2b-256.
 * Always holds: the file is not looked at again; what is checked, linked and loaded are these
 * bytes. Links are followed, for it does not matter where the bytes come from: the signature is of
 * them.
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

/* Reads a whole regular file of 1 to `max` bytes into memory that the caller frees, a 0 behind it.
 * The first takes an open file. Return 0, or -errno after a line that names `path`. */
int file_read(int fd, const char *path, size_t max, uint8_t **data, size_t *len);
int file_open_read(const char *path, size_t max, uint8_t **data, size_t *len);

/* Returns 0, or -errno after a line. */
int object_read(struct module_object *o, const char *path);
void object_free(struct module_object *o);

#endif
