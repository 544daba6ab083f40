/* SPDX-License-Identifier: GPL-2.0 */
/* Settings: saluki-collector's options. Strings point into argv. */
#ifndef COLLECTOR_MODEL_SETTINGS_H
#define COLLECTOR_MODEL_SETTINGS_H

#include <stdint.h>

#include "common/log.h"
#include "free_space.h"

#define SETTINGS_KEYS 2 /* the present one, and the old one */

struct collector_options {
	const char *host, *port; /* --listen; host NULL: any address */
	int inherited;		 /* --listen fd:N: the socket; -1: none */
	int report;		 /* descriptor for the ledger at the end; 0: standard error */
	const char *key_files[SETTINGS_KEYS], *sensors_file;
	unsigned int key_count;
	const char *write; /* -w DIR|FILE|-; NULL with --sink */
	const char *sink;  /* --sink: socket for saluki-kafka; NULL: none */
	const char *stats_file;
	const char *events;  /* NULL: modules' lines are only in the capture */
	const char *state;   /* NULL: next to the output */
	const char *control; /* NULL: CONTROL_PATH if possible; later the socket's path */
	const char *live;    /* as `control`, with LIVE_PATH; "none": no viewers */
	const char *board;   /* as `live`, with BOARD_PATH */
	const char *source;  /* NULL: combos come from sensors */
	const char *user;
	struct space keep_free;
	uint64_t rotate_bytes; /* -C, 0: never */
	uint32_t rotate_s;     /* -G, 0: never */
	uint32_t rotate_count; /* -W: most files of the ring; 0: none is deleted */
	enum log_level log_level;
	uint32_t live_bytes;
	uint64_t silent_ns; /* --silent-after */
};

#endif
