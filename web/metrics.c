// SPDX-License-Identifier: GPL-2.0
/* Metrics: see metrics.h. The families of the program and of the collector are here. */
#include "metrics.h"

#include "common/version.h"
#include "metric.h"
#include "metrics_kafka.h"
#include "metrics_radios.h"
#include "metrics_sensors.h"
#include "metrics_sums.h"

/* ---- this program ---------------------------------------------------------------------------- */

static void own(FILE *f, const struct web_look *l)
{
	static const char *const codes[] = {
#define X(code) #code,
		WEB_CODES(X)
#undef X
	};
	const char *version = l->states ? l->states->now.collector.version : SALUKI_VERSION;

	metric_family(f, "build_info", METRIC_GAUGE,
		      "Version of the collector, else of saluki-web.");
	metric_labels(f, "build_info", "version", version, NULL);
	metric_number(f, 1);
	metric_only(f, "web_board_ok", METRIC_GAUGE,
		    "Whether the collector's state can be read. If it is 0, there are no metrics "
		    "of the "
		    "collector and its sensors.",
		    l->states != NULL);
	metric_family(f, "http_requests_total", METRIC_COUNTER,
		      "HTTP requests by their status code.");
	for (int i = 0; i < WEB_CODE_COUNT; i++) {
		metric_labels(f, "http_requests_total", "code", codes[i], NULL);
		metric_number(f, l->answers[i]);
	}
}

/* ---- the collector --------------------------------------------------------------------------- */

static void refused(FILE *f, const struct network_counters *n)
{
	static const char name[] = "collector_refused_datagrams_total";
	const struct {
		const char *reason;
		uint64_t count;
	} of[] = { { "not_ours", n->not_ours },
		   { "not_authentic", n->not_authentic },
		   { "limited_set_ups", n->limited_set_ups },
		   { "ignored_set_ups", n->ignored_set_ups },
		   { "busy_set_ups", n->busy_set_ups },
		   { "limited_questions", n->limited_questions },
		   { "repeated_requests", n->repeated_requests },
		   { "refused_requests", n->refused_requests },
		   { "other_versions", n->other_versions },
		   { "limited_messages", n->limited_messages } };

	metric_family(f, name, METRIC_COUNTER,
		      "Datagrams that the collector refused, by the reason.");
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		metric_labels(f, name, "reason", of[i].reason, NULL);
		metric_number(f, of[i].count);
	}
}

static void micro(FILE *f, const char *name, const char *help, uint64_t us)
{
	metric_family(f, name, METRIC_GAUGE, help);
	metric_labels(f, name, NULL);
	metric_micro(f, us);
}

static void traffic(FILE *f, const struct board_collector *c)
{
	metric_only(f, "collector_datagrams_total", METRIC_COUNTER, "Datagrams received.",
		    c->network.datagrams);
	metric_only(f, "collector_received_bytes_total", METRIC_COUNTER,
		    "Bytes of UDP payload received.", c->network.bytes);
	refused(f, &c->network);
	metric_only(f, "collector_kernel_dropped_total", METRIC_COUNTER,
		    "Datagrams that the kernel dropped because the socket's buffer was full.",
		    c->kernel_dropped);
	metric_only(f, "collector_pool_bytes", METRIC_GAUGE,
		    "Memory of combos whose pieces have not all arrived.", c->pool_bytes);
	metric_only(f, "collector_pool_limit_bytes", METRIC_GAUGE, "Limit of that memory.",
		    c->pool_limit);
}

static void output(FILE *f, const struct board_collector *c)
{
	metric_only(f, "collector_write_errors_total", METRIC_COUNTER,
		    "Failed writes to the output.", c->write_errors);
	micro(f, "collector_last_write_timestamp_seconds", "Last successful write to the output.",
	      c->written_us);
	metric_only(f, "collector_written_bytes_total", METRIC_COUNTER,
		    "Bytes written to the output.", c->written_bytes);
	metric_only(f, "collector_holding", METRIC_GAUGE,
		    "Whether the output waits for disk space.", c->holding);
	if (!c->disk_size)
		return;
	metric_only(f, "disk_free_bytes", METRIC_GAUGE, "Free space on the output's file system.",
		    c->disk_free);
	metric_only(f, "disk_size_bytes", METRIC_GAUGE, "Size of the output's file system.",
		    c->disk_size);
	metric_only(f, "disk_keep_free_bytes", METRIC_GAUGE,
		    "Space that --keep-free leaves; 0: no limit.", c->keep_free);
}

static void fleet(FILE *f, const struct board_state *s)
{
	uint64_t listed = 0, present = 0, imbalance = 0;

	for (uint32_t i = 0; i < s->collector.sensors; i++) {
		const struct board_sensor *b = &s->sensors[i];
		int64_t balance = (int64_t)b->balance;

		listed += b->listed != 0;
		present += b->listed && b->presence == BOARD_UP;
		imbalance += balance < 0 ? -(uint64_t)balance : (uint64_t)balance;
	}
	metric_only(f, "collector_sensors", METRIC_GAUGE, "Sensors in the sensors file.", listed);
	metric_only(f, "collector_sensors_present", METRIC_GAUGE,
		    "Of those, sensors that are heard.", present);
	metric_only(f, "collector_ledger_imbalance", METRIC_GAUGE,
		    "Frames that the sensors' ledgers do not account for; 0 is right.", imbalance);
	metric_only(f, "collector_not_shown", METRIC_GAUGE,
		    "Interfaces, channels and modules without metrics, because there are too many.",
		    s->collector.not_shown);
}

int metrics_write(FILE *f, const struct web_look *l, const char *arg)
{
	(void)arg;
	own(f, l);
	if (!l->states)
		return 0;
	micro(f, "collector_start_timestamp_seconds", "Start of the collector.",
	      l->states->now.collector.begun_us);
	micro(f, "collector_state_timestamp_seconds", "Time of the state that these metrics show.",
	      l->states->now.collector.time_us);
	traffic(f, &l->states->now.collector);
	output(f, &l->states->now.collector);
	metrics_sink(f, &l->states->now.collector);
	metrics_source(f, &l->states->now.collector);
	fleet(f, &l->states->now);
	metrics_sensors(f, &l->states->now);
	metrics_radios(f, &l->states->now);
	if (l->channels_per_sensor)
		metrics_channels(f, &l->states->now);
	else
		metrics_group_channels(f, l->sums);
	metrics_modules(f, l->sums);
	return 0;
}
