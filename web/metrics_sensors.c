// SPDX-License-Identifier: GPL-2.0
/* Metrics of sensors: see metrics_sensors.h. In: one state. Out: a family for each row of a table.
 */
#include "metrics_sensors.h"

#include <stdbool.h>
#include <stddef.h>

#include "board/look.h"
#include "metric.h"

#define SENSOR "sensor"

/* ---- counters -------------------------------------------------------------------------------- */

/* At offset `at` in struct board_sensor. */
struct counter {
	size_t at;
	const char *label; /* of the family's samples; NULL: the family has one for each sensor */
};

static uint64_t counter_of(const struct board_sensor *b, const struct counter *c)
{
	return *(const board_number *)((const char *)b + c->at);
}

static void counter_sample(FILE *f, const char *name, const struct counter *c, const char *sensor,
			   uint64_t n)
{
	if (c->label)
		metric_labels(f, name, SENSOR, sensor, "reason", c->label, NULL);
	else
		metric_labels(f, name, SENSOR, sensor, NULL);
	metric_number(f, n);
}

static void counter_samples(FILE *f, const struct board_state *s, const char *name,
			    const struct counter *c)
{
	uint64_t unlisted = 0;
	bool any = false;

	for (uint32_t i = 0; i < s->collector.sensors; i++) {
		const struct board_sensor *b = &s->sensors[i];
		uint64_t n = counter_of(b, c);

		any |= !b->listed;
		if (b->listed)
			counter_sample(f, name, c, b->name, n);
		else
			unlisted += n;
	}
	if (any)
		counter_sample(f, name, c, METRICS_UNLISTED, unlisted);
}

#define AT(member) offsetof(struct board_sensor, member)

static void counters(FILE *f, const struct board_state *s)
{
	static const struct {
		const char *name, *help;
		struct counter of;
	} families[] = {
		{ "sensor_frames_seen_total",
		  "Frames at the capture hook.",
		  { AT(totals.seen), NULL } },
		{ "sensor_frames_filtered_total",
		  "Frames that the sensor's filter refused.",
		  { AT(totals.filtered), NULL } },
		{ "sensor_frames_written_total", "Frames written.", { AT(written), NULL } },
		{ "sensor_frames_earlier_total",
		  "Frames exported before this collector's start.",
		  { AT(earlier), NULL } },
		{ "sensor_kept_bytes_total",
		  "Bytes of frames kept.",
		  { AT(totals.kept_bytes), NULL } },
		{ "sensor_received_bytes_total",
		  "Bytes of UDP payload received from the sensor.",
		  { AT(received_bytes), NULL } },
		{ "sensor_runs_total", "Runs of the sensor.", { AT(runs), NULL } },
	};

	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		metric_family(f, families[i].name, METRIC_COUNTER, families[i].help);
		counter_samples(f, s, families[i].name, &families[i].of);
	}
}

static void losses(FILE *f, const struct board_state *s)
{
	static const struct counter reasons[] = {
		{ AT(totals.ring_full), "ring_full" },
		{ AT(totals.copy_failed), "copy_failed" },
		{ AT(totals.dropped_send), "send" },
		{ AT(totals.dropped_shutdown), "shutdown" },
		{ AT(vanished), "vanished" },
		{ AT(lost_missing), "missing" },
		{ AT(lost_disk), "disk" },
		{ AT(lost_refused), "refused" },
	};

	metric_family(
		f, "sensor_frames_lost_total", METRIC_COUNTER,
		"Frames lost for good, by the reason; saluki-collector(8) explains the reasons.");
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		counter_samples(f, s, "sensor_frames_lost_total", &reasons[i]);
}

/* ---- gauges ---------------------------------------------------------------------------------- */

/* A gauge of a sensor: returns whether it has a value. */
typedef bool gauge(const struct board_state *s, const struct board_sensor *b, int64_t *value);

static bool is_up(const struct board_state *s, const struct board_sensor *b, int64_t *value)
{
	(void)s;
	*value = b->presence == BOARD_UP;
	return true;
}

static bool has_ended(const struct board_state *s, const struct board_sensor *b, int64_t *value)
{
	(void)s;
	*value = b->presence == BOARD_ENDED;
	return true;
}

static bool heard(const struct board_state *s, const struct board_sensor *b, int64_t *value)
{
	(void)s;
	*value = b->heard_us;
	return true;
}

/* Frames between the capture hook and the file. */
static bool waiting(const struct board_state *s, const struct board_sensor *b, int64_t *value)
{
	(void)s;
	*value = b->in_flight + b->totals.captured - b->totals.exported - b->totals.dropped_send -
		 b->totals.dropped_shutdown - b->vanished;
	return true;
}

static bool lag(const struct board_state *s, const struct board_sensor *b, int64_t *value)
{
	*value = s->collector.time_us - b->newest_us + board_ahead_us(b);
	return b->newest_us != 0;
}

static bool clock_offset(const struct board_state *s, const struct board_sensor *b, int64_t *value)
{
	(void)s;
	*value = board_ahead_us(b);
	return b->presence != BOARD_NEVER;
}

static bool round_trip(const struct board_state *s, const struct board_sensor *b, int64_t *value)
{
	(void)s;
	*value = b->round_trip_us;
	return b->round_trip_us != 0;
}

static bool store(const struct board_state *s, const struct board_sensor *b, int64_t *value)
{
	(void)s;
	*value = b->totals.store;
	return b->totals.store_limit != 0;
}

static bool store_limit(const struct board_state *s, const struct board_sensor *b, int64_t *value)
{
	(void)s;
	*value = b->totals.store_limit;
	return b->totals.store_limit != 0;
}

static bool shared_key(const struct board_state *s, const struct board_sensor *b, int64_t *value)
{
	(void)s;
	*value = b->twice_us;
	return b->twice_us != 0;
}

static void gauges(FILE *f, const struct board_state *s)
{
	static const struct {
		const char *name, *help;
		gauge *get;
		bool micro; /* in millionths */
	} families[] = {
		{ "sensor_up", "Whether the sensor is heard.", is_up, false },
		{ "sensor_ended", "Whether the sensor has ended in order.", has_ended, false },
		{ "sensor_last_heard_timestamp_seconds", "Last datagram; 0: none yet.", heard,
		  true },
		{ "sensor_frames_waiting", "Frames captured and not yet written.", waiting, false },
		{ "sensor_lag_seconds", "Age of the newest frame taken.", lag, true },
		{ "sensor_clock_offset_seconds",
		  "The sensor's clock minus the collector's, before correction.", clock_offset,
		  true },
		{ "sensor_round_trip_seconds", "Shortest late round trip.", round_trip, true },
		{ "sensor_store_bytes", "Bytes that the sensor stores until they are written.",
		  store, false },
		{ "sensor_store_limit_bytes", "Size of the sensor's store.", store_limit, false },
		{ "sensor_shared_key_timestamp_seconds",
		  "Last time at which two machines used the sensor's key.", shared_key, true },
	};

	for (size_t k = 0; k < sizeof(families) / sizeof(*families); k++) {
		metric_family(f, families[k].name, METRIC_GAUGE, families[k].help);
		for (uint32_t i = 0; i < s->collector.sensors; i++) {
			int64_t value;

			if (!s->sensors[i].listed || !families[k].get(s, &s->sensors[i], &value))
				continue;
			metric_labels(f, families[k].name, SENSOR, s->sensors[i].name, NULL);
			(families[k].micro ? metric_micro : metric_whole)(f, value);
		}
	}
}

static void infos(FILE *f, const struct board_state *s)
{
	metric_family(f, "sensor_info", METRIC_GAUGE, "The sensor's group and version.");
	for (uint32_t i = 0; i < s->collector.sensors; i++) {
		const struct board_sensor *b = &s->sensors[i];

		if (!b->listed)
			continue;
		metric_labels(f, "sensor_info", SENSOR, b->name, "group", b->group, "version",
			      b->application, NULL);
		metric_number(f, 1);
	}
}

void metrics_sensors(FILE *f, const struct board_state *s)
{
	infos(f, s);
	gauges(f, s);
	counters(f, s);
	losses(f, s);
}
