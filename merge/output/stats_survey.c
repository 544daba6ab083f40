// SPDX-License-Identifier: GPL-2.0
/* Stats, the first reading: which sensors, parts and transmitters there are. */
#include <stdlib.h>

#include "stats.h"

static bool has_room(struct stats *s)
{
	uint32_t room = 2 * s->sensor_room + 64;
	void *more;

	if (s->sensor_count == STATS_SENSORS)
		return false;
	if (s->sensor_count < s->sensor_room)
		return true;
	more = realloc(s->sensors, room * sizeof(*s->sensors));
	if (!more)
		return false;
	s->sensors = more;
	s->sensor_room = room;
	return true;
}

/* Returns NULL if there are too many. */
static struct stats_sensor *sensor(struct stats *s, uint16_t id, int64_t at)
{
	struct stats_sensor *n;

	if (s->sensor_of[id])
		return &s->sensors[s->sensor_of[id] - 1];
	if (!has_room(s))
		return NULL;
	n = &s->sensors[s->sensor_count++];
	*n = (struct stats_sensor){ .id = id, .first_ns = at, .last_ns = at };
	s->sensor_of[id] = s->sensor_count;
	return n;
}

static void span(int64_t *first, int64_t *last, int64_t at)
{
	*first = at < *first ? at : *first;
	*last = at > *last ? at : *last;
}

void stats_survey_frame(struct stats *s, const struct stats_frame *f)
{
	for (uint32_t i = 0; i < f->receptions.count; i++) {
		struct trace_reception r = trace_reception(&f->receptions, i);
		struct stats_sensor *n = sensor(s, r.sensor, f->at_ns);
		struct stats_part *p = &s->parts[r.part];

		if (!n) {
			s->sensors_left_out++;
			continue;
		}
		n->receptions++;
		n->part = r.part;
		span(&n->first_ns, &n->last_ns, f->at_ns);
		if (!p->receptions++)
			p->first_ns = p->last_ns = f->at_ns;
		span(&p->first_ns, &p->last_ns, f->at_ns);
	}
	if (!f->found)
		transmitters_count(&s->transmitters, f->transmitter);
}
