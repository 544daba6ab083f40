// SPDX-License-Identifier: GPL-2.0
/* Kafka: see kafka.h. */
#include "kafka.h"

#include <stdio.h>
#include <string.h>

_Static_assert(ACK_TIMES == BOARD_ACKS, "same classes");
#define X(name, help) COUNTER_##name,
enum { BOARD_SOURCE_COUNTERS(X) COUNTERS };
#undef X
_Static_assert(sizeof(struct take_counts) / sizeof(uint64_t) == COUNTERS,
	       "each message is in one counter");

/* `taken`: messages so far. `waits`: there are more. */
static void look(struct board_kafka *out, struct kafka_progress *p, uint64_t taken, bool waits,
		 uint64_t now_us)
{
	bool well = out->connected && !*out->why && !waits;

	out->used = 1;
	if (well || taken != p->taken)
		p->stopped_us = 0;
	if (!well && !p->stopped_us)
		p->stopped_us = now_us;
	p->taken = taken;
	out->stopped_us = p->stopped_us;
}

static void copy(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%.*s", (int)size - 1, text);
}

void kafka_show_sink(struct record_writer *w, struct kafka_progress *p, const struct sink *k)
{
	struct board_sink *out = &w->collector->sink;
	const struct window_entry *first = k ? k->window.first : NULL;

	*out = (struct board_sink){ 0 };
	if (!k)
		return;
	out->kafka.connected = k->connection.greeted;
	copy(out->kafka.why, sizeof(out->kafka.why), k->connection.why);
	copy(out->kafka.topic, sizeof(out->kafka.topic), k->connection.topic);
	copy(out->kafka.brokers, sizeof(out->kafka.brokers), k->connection.brokers);
	out->full = sink_is_full(k);
	out->waiting = k->window.count;
	out->waiting_bytes = k->window.bytes;
	if (first) /* it may be newer than this look's time */
		out->oldest_us =
			record_time_us(w, first->put_ns < w->now_ns ? first->put_ns : w->now_ns);
#define X(name, help) out->name = k->name;
	BOARD_SINK_COUNTERS(X)
#undef X
	for (int i = 0; i < ACK_TIMES; i++)
		out->acks[i] = k->acks.count[i];
	out->acks_ns = k->acks.sum_ns;
	look(&out->kafka, p, k->delivered + k->refused, k->window.count, w->now_us);
}

void kafka_show_source(struct record_writer *w, struct kafka_progress *p, const struct source *s)
{
	struct board_source *out = &w->collector->source;

	*out = (struct board_source){ 0 };
	if (!s)
		return;
	out->kafka.connected = s->greeted;
	copy(out->kafka.why, sizeof(out->kafka.why), s->state.why);
	copy(out->kafka.topic, sizeof(out->kafka.topic), s->state.topic);
	copy(out->kafka.brokers, sizeof(out->kafka.brokers), s->state.brokers);
	out->lag = s->state.lag;
	out->messages = s->messages;
#define X(name, help) out->name = s->take.counts.name;
	BOARD_SOURCE_COUNTERS(X)
#undef X
	look(&out->kafka, p, s->messages, s->state.lag, w->now_us);
}
