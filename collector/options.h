/* SPDX-License-Identifier: GPL-2.0 */
/* What saluki-collector was asked for. Strings point into argv. */
#ifndef COLLECTOR_OPTIONS_H
#define COLLECTOR_OPTIONS_H

#include <stdint.h>

#include "collector/output/budget.h"

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

/* Returns 0, or the exit status with everything said: 2 for bad usage, -1 after --help. */
int options_parse(struct collector_options *o, int argc, char **argv);

#endif
