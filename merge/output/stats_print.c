// SPDX-License-Identifier: GPL-2.0
/* Stats' output: see stats_print.h. Sensors stand in the order of their receptions, so that the
 * number of a row in the matrices is the sensor's number in the list. */
#include "stats_print.h"

#include "stats_json.h"

#define PARTS_MOST 64
#define QUANTILE_LEAST 5 /* durations */

static const struct stats_sensor *sensor_at(const struct stats *s, uint32_t n)
{
	return &s->sensors[s->places[n]];
}

static void name_of(struct json_out *o, const char *member, const struct stats *s,
		    const struct stats_sensor *n)
{
	char number[8];

	snprintf(number, sizeof(number), "%u", n->id);
	json_text(o, member, *s->names[n->id] ? s->names[n->id] : number);
}

/* ---- parts of the object --------------------------------------------------------------------- */

static void residuals(struct json_out *o, const struct spread *r)
{
	static const struct {
		const char *name;
		double share;
	} list[] = { { "p1", .01 },  { "p10", .1 }, { "p25", .25 }, { "p50", .5 },
		     { "p75", .75 }, { "p90", .9 }, { "p99", .99 } };

	json_open_with(o, "residual_ns", '{');
	json_number(o, "receptions", r->total);
	for (unsigned int i = 0; r->total && i < sizeof(list) / sizeof(*list); i++)
		json_decimal(o, list[i].name, spread_quantile(r, list[i].share));
	if (r->total) {
		json_decimal(o, "size_p50", spread_size_quantile(r, .5));
		json_decimal(o, "size_p90", spread_size_quantile(r, .9));
		json_decimal(o, "size_p99", spread_size_quantile(r, .99));
	}
	json_close_with(o, '}');
}

static void sensors(struct json_out *o, const struct stats *s)
{
	json_open_with(o, "sensors", '[');
	for (uint32_t i = 0; i < s->sensor_count; i++) {
		const struct stats_sensor *n = sensor_at(s, i);

		json_open_with(o, NULL, '{');
		name_of(o, "name", s, n);
		json_number(o, "id", n->id);
		json_number(o, "part", n->part);
		json_number(o, "receptions", n->receptions);
		json_number(o, "late", n->late);
		json_number(o, "off", n->off);
		json_number(o, "first_ns", n->first_ns);
		json_number(o, "last_ns", n->last_ns);
		json_open_with(o, "alone", '{');
		for (int c = 0; c < FRAME_CLASSES; c++)
			if (n->alone[c])
				json_number(o, frame_class_word(c), n->alone[c]);
		json_close_with(o, '}');
		residuals(o, &n->residuals);
		json_close_with(o, '}');
		putc('\n', o->f);
	}
	json_close_with(o, ']');
}

static void classes(struct json_out *o, const struct stats *s)
{
	json_open_with(o, "classes", '[');
	for (int c = 0; c < FRAME_CLASSES; c++) {
		if (!s->classes[c])
			continue;
		json_open_with(o, NULL, '{');
		json_text(o, "class", frame_class_word(c));
		json_number(o, "transmissions", s->classes[c]);
		json_number(o, "without_rate", s->airtime_unknown[c]);
		json_open_with(o, "heard_by", '[');
		for (int n = 0; n <= STATS_HEARD_MAX; n++)
			json_number(o, NULL, s->heard_by[c][n]);
		json_close_with(o, ']');
		json_close_with(o, '}');
	}
	json_close_with(o, ']');
}

static void parts(struct json_out *o, const struct stats *s)
{
	uint64_t count = 0;

	json_open_with(o, "parts", '[');
	for (uint32_t i = 0; i < STATS_PARTS; i++) {
		const struct stats_part *p = &s->parts[i];

		if (!p->receptions || count++ >= PARTS_MOST)
			continue;
		json_open_with(o, NULL, '{');
		json_number(o, "part", i);
		json_number(o, "sensors", p->sensors);
		json_number(o, "receptions", p->receptions);
		json_number(o, "first_ns", p->first_ns);
		json_number(o, "last_ns", p->last_ns);
		json_close_with(o, '}');
	}
	json_close_with(o, ']');
	json_number(o, "parts_count", count);
}

#define COLUMN(o, s, name, each, value)                                                            \
	do {                                                                                       \
		json_open_with(o, name, '[');                                                      \
		for (uint32_t i = 0; i < (s)->options.points; i++)                                 \
			each(o, NULL, value);                                                      \
		json_close_with(o, ']');                                                           \
	} while (0)

static void channels(struct json_out *o, const struct stats *s)
{
	json_open_with(o, "channels", '[');
	for (uint32_t n = 0; n < s->channel_count; n++) {
		const struct stats_channel *c = &s->channels[n];

		json_open_with(o, NULL, '{');
		json_number(o, "mhz", c->mhz);
		COLUMN(o, s, "airtime_us", json_decimal, c->points[i].airtime_us);
		COLUMN(o, s, "transmissions", json_number, c->points[i].transmissions);
		COLUMN(o, s, "several", json_number, c->points[i].several);
		COLUMN(o, s, "listening", json_number, c->points[i].listening);
		COLUMN(o, s, "attempts", json_number, c->points[i].attempts);
		COLUMN(o, s, "retries", json_number, c->points[i].retries);
		json_close_with(o, '}');
		putc('\n', o->f);
	}
	json_close_with(o, ']');
}

static void quantile(struct json_out *o, const char *name, const struct stats *s,
		     const struct stats_point *p, double share)
{
	json_open_with(o, name, '[');
	for (uint32_t i = 0; i < s->options.points; i++)
		if (p[i].residuals.total >= QUANTILE_LEAST)
			json_decimal(o, NULL, spread_quantile(&p[i].residuals, share));
		else
			json_nothing(o);
	json_close_with(o, ']');
}

/* Without receptions, the table of clocks may know the offset. */
static void offsets(struct json_out *o, const struct stats *s, const struct stats_point *p,
		    const struct stats_clock_point *c)
{
	json_open_with(o, "offset_ns", '[');
	for (uint32_t i = 0; i < s->options.points; i++)
		if (p[i].has_offset)
			json_number(o, NULL, p[i].offset_ns);
		else if (c && c[i].known && c[i].offset_ns > -9e18 && c[i].offset_ns < 9e18)
			json_number(o, NULL, (int64_t)c[i].offset_ns);
		else
			json_nothing(o);
	json_close_with(o, ']');
}

#define CLOCK(o, s, c, name, value)                                                                \
	do {                                                                                       \
		json_open_with(o, name, '[');                                                      \
		for (uint32_t i = 0; i < (s)->options.points; i++)                                 \
			if ((c)[i].known)                                                          \
				json_decimal(o, NULL, (c)[i].value);                               \
			else                                                                       \
				json_nothing(o);                                                   \
		json_close_with(o, ']');                                                           \
	} while (0)

static void series(struct json_out *o, const struct stats *s, const struct stats_clocks *clocks)
{
	json_open_with(o, "series", '[');
	for (uint32_t n = 0; n < s->place_count; n++) {
		const struct stats_point *p = s->points + (size_t)n * s->options.points;
		const struct stats_clock_point *c =
			clocks ? clocks->points + (size_t)n * s->options.points : NULL;

		json_open_with(o, NULL, '{');
		COLUMN(o, s, "receptions", json_number, p[i].receptions);
		offsets(o, s, p, c);
		quantile(o, "residual_p10_ns", s, p, .1);
		quantile(o, "residual_p50_ns", s, p, .5);
		quantile(o, "residual_p90_ns", s, p, .9);
		if (c) {
			CLOCK(o, s, c, "rate_ppb", rate_ppb);
			CLOCK(o, s, c, "sigma_ns", sigma_ns);
			CLOCK(o, s, c, "jitter_ns", jitter_ns);
			CLOCK(o, s, c, "references", references);
			CLOCK(o, s, c, "outliers", outliers);
		}
		json_close_with(o, '}');
		putc('\n', o->f);
	}
	json_close_with(o, ']');
}

static void matrices(struct json_out *o, const struct stats *s)
{
	json_open_with(o, "together", '[');
	for (uint32_t i = 0; i < s->place_count; i++) {
		json_open_with(o, NULL, '[');
		for (uint32_t j = 0; j < s->place_count; j++)
			json_number(o, NULL, s->together[(size_t)i * s->place_count + j]);
		json_close_with(o, ']');
	}
	json_close_with(o, ']');
	json_open_with(o, "heard", '[');
	for (uint32_t i = 0; i < s->place_count; i++) {
		json_open_with(o, NULL, '[');
		for (uint32_t j = 0; j < s->address_count; j++)
			json_number(o, NULL, s->heard[(size_t)i * s->address_count + j].receptions);
		json_close_with(o, ']');
	}
	json_close_with(o, ']');
	json_open_with(o, "signal_dbm", '[');
	for (uint32_t i = 0; i < s->place_count; i++) {
		json_open_with(o, NULL, '[');
		for (uint32_t j = 0; j < s->address_count; j++) {
			const struct stats_heard *h = &s->heard[(size_t)i * s->address_count + j];

			if (h->receptions)
				json_decimal(o, NULL, (double)h->signal / h->receptions);
			else
				json_nothing(o);
		}
		json_close_with(o, ']');
	}
	json_close_with(o, ']');
}

static void transmitters(struct json_out *o, const struct stats *s)
{
	json_open_with(o, "transmitters", '[');
	for (uint32_t i = 0; i < s->address_count; i++) {
		const struct stats_transmitter *t = &s->sent[i];
		char address[STATS_ADDRESS];

		json_open_with(o, NULL, '{');
		json_text(o, "address", stats_address_text(address, s->addresses[i]));
		json_number(o, "mhz", t->mhz);
		json_number(o, "transmissions", t->transmissions);
		json_number(o, "receptions", t->receptions);
		json_number(o, "attempts", t->attempts);
		json_number(o, "retries", t->retries);
		json_decimal(o, "airtime_us", t->airtime_us);
		json_close_with(o, '}');
	}
	json_close_with(o, ']');
	json_number(o, "transmitters_count", s->transmitters.count + s->transmitters.forgotten);
}

static void clock_table(struct json_out *o, const struct stats *s, const struct stats_clocks *c)
{
	json_open_with(o, "clocks", '{');
	json_number(o, "lines", c->lines);
	json_number(o, "malformed", c->malformed);
	json_number(o, "unknown_sensor", c->unknown);
	json_open_with(o, "events", '[');
	for (uint32_t i = 0; i < c->event_count; i++) {
		const struct stats_event *e = &c->events[i];

		json_open_with(o, NULL, '{');
		json_number(o, "time_ns", e->at_ns);
		name_of(o, "sensor", s, &s->sensors[e->sensor]);
		json_text(o, "event", e->what);
		json_close_with(o, '}');
	}
	json_close_with(o, ']');
	json_number(o, "events_left_out", c->events_left_out);
	json_close_with(o, '}');
}

static void left_out(struct json_out *o, const struct stats *s)
{
	json_open_with(o, "left_out", '{');
	json_number(o, "transmissions_elsewhere", s->elsewhere);
	json_number(o, "malformed_frames", s->malformed);
	json_number(o, "packets_without_receptions", s->without_receptions);
	json_number(o, "receptions_of_further_sensors", s->sensors_left_out);
	json_number(o, "transmissions_of_further_channels", s->channels_left_out);
	json_number(o, "transmissions_outside_the_time", s->outside);
	json_close_with(o, '}');
}

void stats_print(FILE *f, const struct stats *s, const struct stats_clocks *c)
{
	struct json_out o = { .f = f };

	json_open_with(&o, NULL, '{');
	json_number(&o, "version", 1);
	json_number(&o, "transmissions", s->transmissions);
	json_number(&o, "receptions", s->receptions);
	json_number(&o, "begin_ns", s->begin_ns);
	json_number(&o, "step_ns", s->step_ns);
	json_number(&o, "points", s->options.points);
	left_out(&o, s);
	putc('\n', f);
	classes(&o, s);
	putc('\n', f);
	parts(&o, s);
	putc('\n', f);
	sensors(&o, s);
	series(&o, s, c);
	channels(&o, s);
	transmitters(&o, s);
	putc('\n', f);
	matrices(&o, s);
	if (c)
		clock_table(&o, s, c);
	json_close_with(&o, '}');
	putc('\n', f);
}
