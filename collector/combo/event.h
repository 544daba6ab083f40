/* SPDX-License-Identifier: GPL-2.0 */
/* What is amid the frames of a combo (wire/combo.h), read: each event once. */
#ifndef COLLECTOR_COMBO_EVENT_H
#define COLLECTOR_COMBO_EVENT_H

#include "wire/combo.h"
#include "wire/dwell.h"
#include "wire/module_event.h"

enum event_kind {
	EVENT_UNKNOWN, /* of a later version, */
	EVENT_BAD,     /* or not to be read: both are counted and passed over */
	EVENT_DWELL,   /* these are in the file */
	EVENT_MODULE,
};

struct event {
	enum event_kind kind;
	union {
		struct dwell dwell;
		struct module_event said;
	};
};

/* Reads the events of a combo that are still to come, in their order. Returns how many of them will
 * be in the file. */
uint32_t event_read(struct event events[COMBO_EVENTS_MAX], const struct combo_reader *r);

#endif
