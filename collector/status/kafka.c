// SPDX-License-Identifier: GPL-2.0
/* Kafka: see print.h. In: two states. Out: lines about --sink and --source. */
#include <stdarg.h>

#include "common/log.h"
#include "print.h"

#define ULL(x) ((unsigned long long)(x))

/* Appends to a line of STATUS_KAFKA_MAX bytes. */
__attribute__((format(printf, 3, 4))) static void add(char *out, size_t *len, const char *format,
						      ...)
{
	va_list args;

	va_start(args, format);
	*len += vsnprintf(out + *len, STATUS_KAFKA_MAX - *len, format, args);
	va_end(args);
	if (*len >= STATUS_KAFKA_MAX)
		*len = STATUS_KAFKA_MAX - 1;
}

static void add_why(char *out, size_t *len, const struct board_kafka *k)
{
	if (*board_kafka_why(k))
		add(out, len, "%s; ", board_kafka_why(k));
}

/* The class of half of all acknowledgements, or -1. `before`: those that are not of interest. */
static int median(const struct board_sink *now, const struct board_sink *before)
{
	uint64_t all = 0, sum = 0;
	int n = 0;

	for (int i = 0; i < BOARD_ACKS; i++)
		all += now->acks[i] - before->acks[i];
	while (n < BOARD_ACKS - 1 && (sum += now->acks[n] - before->acks[n]) * 2 < all)
		n++;
	return all ? n : -1;
}

/* In the last second, or in all if there was none in it. */
static void add_median(char *out, size_t *len, const struct board_states *s)
{
	static const struct board_sink none;
	int n = median(&s->now.collector.sink, &s->before.collector.sink);

	if (n < 0)
		n = median(&s->now.collector.sink, &none);
	if (n == BOARD_ACKS - 1)
		add(out, len, "; acknowledged after more than %.0f s (median)", (1 << n) / 2000.0);
	else if (n >= 0)
		add(out, len, "; acknowledged within %d ms (median)", 1 << n);
}

const char *status_sink(char out[STATUS_KAFKA_MAX], const struct board_states *s)
{
	const struct board_collector *c = &s->now.collector;
	size_t len = 0;

	add(out, &len, "kafka: ");
	add_why(out, &len, &c->sink.kafka);
	add(out, &len, "%llu message%s (%llu kB) wait%s", ULL(c->sink.waiting),
	    PLURAL(c->sink.waiting), ULL((c->sink.waiting_bytes + 500) / 1000),
	    c->sink.waiting == 1 ? "s" : "");
	if (c->sink.oldest_us)
		add(out, &len, ", oldest %.2f s", board_oldest_us(c) / 1e6);
	add_median(out, &len, s);
	add(out, &len, "; delivered %llu, refused %llu", ULL(c->sink.delivered),
	    ULL(c->sink.refused));
	return out;
}

const char *status_source(char out[STATUS_KAFKA_MAX], const struct board_states *s)
{
	const struct board_source *k = &s->now.collector.source;
	size_t len = 0;

	add(out, &len, "kafka: ");
	add_why(out, &len, &k->kafka);
	add(out, &len, "lag %llu message%s; combos %llu, repeated %llu, passed over %llu",
	    ULL(k->lag), PLURAL(k->lag), ULL(k->combos), ULL(k->repeated),
	    ULL(k->bad + k->unknown_record + k->no_place));
	return out;
}
