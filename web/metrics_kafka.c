// SPDX-License-Identifier: GPL-2.0
/* Metrics of saluki-kafka: see metrics_kafka.h. */
#include "metrics_kafka.h"

#include "board/look.h"
#include "metric.h"

static void seconds(FILE *f, const char *name, const char *help, uint64_t us)
{
	metric_family(f, name, METRIC_GAUGE, help);
	metric_labels(f, name, NULL);
	metric_micro(f, us);
}

static void outcome(FILE *f, const char *family, const char *name, uint64_t n)
{
	metric_labels(f, family, "outcome", name, NULL);
	metric_number(f, n);
}

/* ---- the sink -------------------------------------------------------------------------------- */

static void acks(FILE *f, const struct board_sink *k)
{
	uint64_t sum = 0;
	char limit[16];

	metric_family(f, "sink_ack_seconds", METRIC_HISTOGRAM,
		      "Time until the brokers acknowledged a message.");
	for (int n = 0; n < BOARD_ACKS; n++) {
		snprintf(limit, sizeof(limit), "%g", (1 << n) / 1e3);
		sum += k->acks[n];
		metric_labels(f, "sink_ack_seconds_bucket", "le",
			      n < BOARD_ACKS - 1 ? limit : "+Inf", NULL);
		metric_number(f, sum);
	}
	metric_labels(f, "sink_ack_seconds_sum", NULL);
	metric_micro(f, k->acks_ns / 1000);
	metric_labels(f, "sink_ack_seconds_count", NULL);
	metric_number(f, sum);
}

void metrics_sink(FILE *f, const struct board_collector *c)
{
	const struct board_sink *k = &c->sink;

	if (!k->kafka.used)
		return;
	metric_only(f, "sink_connected", METRIC_GAUGE, "Whether saluki-kafka is connected.",
		    k->kafka.connected);
	seconds(f, "sink_stopped_seconds", "Time without progress; 0: all is well.",
		board_stopped_us(c, &k->kafka));
	metric_only(f, "sink_full", METRIC_GAUGE, "Whether no further message has room.", k->full);
	metric_only(f, "sink_waiting_messages", METRIC_GAUGE,
		    "Messages that the brokers have not acknowledged.", k->waiting);
	metric_only(f, "sink_waiting_bytes", METRIC_GAUGE, "Memory of these messages.",
		    k->waiting_bytes);
	seconds(f, "sink_oldest_seconds", "Age of the oldest of these messages.",
		board_oldest_us(c));
	metric_family(f, "sink_messages_total", METRIC_COUNTER, "Messages by their outcome.");
#define X(name, help) outcome(f, "sink_messages_total", #name, k->name);
	BOARD_SINK_COUNTERS(X)
#undef X
	acks(f, k);
}

/* ---- the source ------------------------------------------------------------------------------ */

void metrics_source(FILE *f, const struct board_collector *c)
{
	const struct board_source *s = &c->source;

	if (!s->kafka.used)
		return;
	metric_only(f, "source_connected", METRIC_GAUGE, "Whether saluki-kafka is connected.",
		    s->kafka.connected);
	seconds(f, "source_stopped_seconds", "Time without progress; 0: all is well.",
		board_stopped_us(c, &s->kafka));
	metric_only(f, "source_lag_messages", METRIC_GAUGE, "Messages that are still in the topic.",
		    s->lag);
	metric_family(f, "source_messages_total", METRIC_COUNTER, "Messages by their outcome.");
#define X(name, help) outcome(f, "source_messages_total", #name, s->name);
	BOARD_SOURCE_COUNTERS(X)
#undef X
}
