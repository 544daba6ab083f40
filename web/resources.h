/* SPDX-License-Identifier: GPL-2.0 */
/* Resources: what saluki-web serves, and how each is written from the board's state. */
#ifndef WEB_RESOURCES_H
#define WEB_RESOURCES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "board/look.h"

struct sums;
struct web_history;

/* HTTP status codes that the program counts. */
#define WEB_CODES(X) X(200) X(304) X(400) X(404) X(405) X(413) X(421) X(500) X(503) X(505)

enum {
#define X(code) WEB_CODE_##code,
	WEB_CODES(X)
#undef X
		WEB_CODE_COUNT
};

struct web_look {
	const struct board_states *states; /* NULL: none, see `why` */
	const struct web_history *history;
	const struct sums *sums;
	const char *why;	  /* why there is no state */
	const uint64_t *answers;  /* WEB_CODE_COUNT counters */
	bool channels_per_sensor; /* of --metrics-channels */
};

/* A resource whose path ends with '/' has one for each name: PATH/NAME.json. */
struct web_resource {
	const char *path;
	const char *type;
	/* Writes the resource. `arg` is NAME, or the value of the parameter `query`; NULL: there is
	 * none. It may have any bytes. Returns 0, -ENOENT, or another -errno. */
	int (*write)(FILE *out, const struct web_look *l, const char *arg);
	const char *query; /* NULL: the resource has no parameter */
	bool always;	   /* it is written without a state, too */
};

#endif
