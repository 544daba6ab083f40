/* SPDX-License-Identifier: GPL-2.0 */
/* Module counts: the events of each module that a sensor runs. Sensors choose the modules' names,
 * so each sensor has at most MODULE_COUNTS_MAX; the events of others count in `others`. */
#ifndef COLLECTOR_MODEL_MODULE_COUNTS_H
#define COLLECTOR_MODEL_MODULE_COUNTS_H

#include <stdint.h>

#include "wire/module_event.h"

#define MODULE_COUNTS_MAX 32

struct module_count {
	char name[MODULE_EVENT_NAME_MAX + 1];
	uint64_t events;
	uint64_t last_ns; /* monotonic: of the last event */
};

struct module_counts {
	uint64_t others;
	unsigned int count;
	struct module_count of[MODULE_COUNTS_MAX];
};

/* Adds an event to `*c`, which is NULL before the first, and stays so without memory. free() frees
 * it. */
void module_counts_add(struct module_counts **c, const char *name, uint64_t now_ns);

#endif
