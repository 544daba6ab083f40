/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Presence: which sensors are heard. In: the list of sensors, once a second. Out: each sensor's
 * presence, and a log line for each change. Changes of more than PRESENCE_LINES sensors in one
 * second share one line, so the log stays short when a whole fleet comes or goes.
 */
#ifndef COLLECTOR_BOARD_PRESENCE_H
#define COLLECTOR_BOARD_PRESENCE_H

#include "collector/model/sensors.h"

#define PRESENCE_LINES 10
#define PRESENCE_NAMES 8     /* most names in a line about several sensors */
#define PRESENCE_WINDOW_S 10 /* silences within this time may have one cause */

struct presence {
	uint64_t silent_ns; /* --silent-after */
	uint64_t moved_ns;  /* monotonic: sensors last heard before it may be elsewhere; 0: none */
	uint64_t next_ns;   /* monotonic: the next look; 0: none yet */
	uint64_t begun_ns;  /* of the first look */
	unsigned int up, listed; /* at the last look */
	bool never_logged;
	/* Sensors that fell silent in the last seconds. */
	unsigned int fell[PRESENCE_WINDOW_S], second;
	bool network_asked; /* the line about this machine's network is logged */
};

/* Looks at all sensors if a second has passed. Returns milliseconds until the next look. */
int presence_tick(struct presence *p, const struct sensors *sensors, uint64_t now_ns);

#endif
