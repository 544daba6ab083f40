/* SPDX-License-Identifier: GPL-2.0 */
/* What a module on a sensor has said (wire/said.h), as a line of JSON. */
#ifndef COLLECTOR_SAID_JSON_H
#define COLLECTOR_SAID_JSON_H

#include <stddef.h>

#include "wire/combo.h"
#include "wire/said.h"

#define SAID_JSON_MAX 640 /* bytes of the longest line, its end included */

/* Reads an event. Returns 0, or -EBADMSG where it is none of a module. */
int said_of(struct said *s, const struct combo_event *e);
/* {"sensor": ..., "interface": ..., "module": ..., "serial": ..., "time_ns": ..., "direction": "in",
 * "data": hexadecimal digits}, without an end of line. */
void said_json(char line[SAID_JSON_MAX], const struct said *s, const char *sensor,
	       const char *interface);

#endif
