/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event JSON: a module's event (wire/module_event.h) as a line of JSON:
 *
 *     {"sensor": "lib", "interface": "eth0", "module": "worm", "serial": 3, "time_ns": 17...,
 *      "direction": "in", "data": "0a0b", "id": "1122334455667788-17-0"}
 *
 * `time_ns`: the frame's, ns since 1970-01-01 UTC. `data`: the event's bytes. Each event has its
 * own `id`, which is the same wherever the event is written.
 */
#ifndef COLLECTOR_OUTPUT_EVENT_JSON_H
#define COLLECTOR_OUTPUT_EVENT_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/combo.h"
#include "wire/module_event.h"

#define EVENT_JSON_MAX 720 /* bytes of the longest line, its end included */

/* An event's origin: run, combo, number in the combo. */
struct event_json_id {
	uint64_t run, combo;
	unsigned int number;
};

/* Reads an event. Returns 0, or -EBADMSG if it is malformed. */
int event_json_of(struct module_event *s, const struct combo_event *e);
/* Writes the line without a newline, and a terminating 0. Returns its bytes. */
size_t event_json(char line[EVENT_JSON_MAX], const struct module_event *s, const char *sensor,
		  const char *interface, const struct event_json_id *id);
/* Finds the module's name in an untrusted line of `len` bytes. Returns false if there is none. */
bool event_json_module(char name[MODULE_EVENT_NAME_MAX + 1], const char *line, size_t len);

#endif
