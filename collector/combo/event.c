// SPDX-License-Identifier: GPL-2.0
/* Event: see event.h. */
#include "event.h"

#include "collector/model/coverage.h"
#include "collector/output/event_json.h"

static enum event_kind read_kind(struct event *v, const struct combo_event *e)
{
	switch (e->type) {
	case COMBO_EVENT_DWELL:
		return coverage_read(&v->dwell, e) ? EVENT_BAD : EVENT_DWELL;
	case COMBO_EVENT_SAID:
		return event_json_of(&v->module, e) ? EVENT_BAD : EVENT_MODULE;
	case COMBO_EVENT_CLOCK:
		return clock_readings_read(&v->readings, e->bytes, e->len) ? EVENT_BAD
									   : EVENT_READINGS;
	default:
		return EVENT_UNKNOWN;
	}
}

uint32_t event_read(struct event events[COMBO_EVENTS_MAX], const struct combo_reader *r)
{
	struct combo_event list[COMBO_EVENTS_MAX];
	uint32_t count = combo_list_events(r, list), kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		events[i].kind = read_kind(&events[i], &list[i]);
		kept += events[i].kind >= EVENT_DWELL;
	}
	return kept;
}
