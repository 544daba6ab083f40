/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A module's event about a frame (saluki/module.h). In a combo it follows its frame (combo.h).
 *
 *     interface 1, direction 1, time 8, varint serial, varint name length, name, bytes
 */
#ifndef WIRE_MODULE_EVENT_H
#define WIRE_MODULE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODULE_EVENT_NAME_MAX 31
#define MODULE_EVENT_BYTES_MAX 64

struct module_event {
	uint8_t interface; /* the sensor's number for it, as in frames */
	uint8_t direction; /* SALUKI_DIRECTION_, of the frame */
	uint64_t time_ns;  /* ns since 1970-01-01 UTC: the frame's */
	uint64_t serial;   /* of the module */
	char name[MODULE_EVENT_NAME_MAX + 1];
	uint8_t len;
	uint8_t bytes[MODULE_EVENT_BYTES_MAX];
};

#define MODULE_EVENT_ENCODED_MAX                                                                   \
	(1 + 1 + 8 + 10 + 1 + MODULE_EVENT_NAME_MAX +                                              \
	 MODULE_EVENT_BYTES_MAX) /* bytes of the longest */

/* A module's name has letters, digits, '-' and '_', as it is a file's name too. */
bool module_event_name_is_good(const char *name, size_t len);

/* Returns the bytes written, at most MODULE_EVENT_ENCODED_MAX. */
size_t module_event_write(uint8_t out[MODULE_EVENT_ENCODED_MAX], const struct module_event *s);
/* Returns 0 or -EBADMSG. */
int module_event_read(struct module_event *s, const uint8_t *in, size_t len);

#endif
