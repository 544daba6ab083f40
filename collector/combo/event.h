/* SPDX-License-Identifier: GPL-2.0 */
/* Event: parses the events between the frames of a combo (wire/combo.h), each one once. */
#ifndef COLLECTOR_COMBO_EVENT_H
#define COLLECTOR_COMBO_EVENT_H

#include "wire/clock_readings.h"
#include "wire/combo.h"
#include "wire/dwell.h"
#include "wire/module_event.h"

enum event_kind {
	EVENT_UNKNOWN, /* of a later version; counted and ignored */
	EVENT_BAD,     /* malformed or refused; counted and ignored */
	EVENT_LEFT,    /* ignored, as there is no place for it */
	EVENT_DWELL,   /* this and the next are written */
	EVENT_MODULE,
	EVENT_READINGS,
};

struct event {
	enum event_kind kind;
	union {
		struct dwell dwell;
		struct module_event module;
		struct clock_readings readings;
	};
};

/* Reads the remaining events of a combo, in order. Returns how many are to be written. */
uint32_t event_read(struct event events[COMBO_EVENTS_MAX], const struct combo_reader *r);

#endif
