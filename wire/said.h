/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a module has said of a frame (saluki/module.h): an event amid frames (combo.h), behind the
 * frame that it is of.
 *
 *     interface 1, direction 1, time 8, varint serial, varint name length, name, bytes
 */
#ifndef WIRE_SAID_H
#define WIRE_SAID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAID_NAME_MAX 31
#define SAID_BYTES_MAX 64

struct said {
	uint8_t interface; /* the sensor's number of it, as frames have it */
	uint8_t direction; /* SALUKI_DIRECTION_, of the frame */
	uint64_t time_ns;  /* ns since 1970-01-01 UTC: the frame's */
	uint64_t serial;   /* of the module */
	char name[SAID_NAME_MAX + 1];
	uint8_t len;
	uint8_t bytes[SAID_BYTES_MAX];
};

#define SAID_MAX (1 + 1 + 8 + 10 + 1 + SAID_NAME_MAX + SAID_BYTES_MAX) /* bytes of the longest */

/* Names of modules are of letters, digits, '-' and '_': they are names of files, too. */
bool said_name_is_good(const char *name, size_t len);

/* Returns the bytes written, at most SAID_MAX. */
size_t said_write(uint8_t out[SAID_MAX], const struct said *s);
/* Returns 0 or -EBADMSG. */
int said_read(struct said *s, const uint8_t *in, size_t len);

#endif
