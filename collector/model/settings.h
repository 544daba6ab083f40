/* SPDX-License-Identifier: GPL-2.0 */
/* What saluki-collector was asked for on its command line. Strings point into argv. */
#ifndef COLLECTOR_MODEL_SETTINGS_H
#define COLLECTOR_MODEL_SETTINGS_H

#include <stdint.h>

#include "free_space.h"

struct collector_options {
	const char *host, *port; /* --listen; host NULL: any address */
	const char *key_file, *sensors_file;
	const char *write; /* -w DIR|FILE|- */
	const char *stats_file;
	const char *events;  /* NULL: what modules say is in the capture alone */
	const char *state;   /* NULL: next to what is written */
	const char *control; /* NULL: CONTROL_PATH, if it can be made; then where it is */
	const char *user;
	struct keep_free keep_free;
	uint64_t rotate_bytes; /* -C, 0: never */
	uint32_t rotate_s;     /* -G, 0: never */
};

#endif
