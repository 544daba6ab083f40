/* SPDX-License-Identifier: GPL-2.0 */
/* Kafka: writes what is known of saluki-kafka into a state of the board. In: the sink or the
 * source, once a second. Out: its record, and since when it has stood still. */
#ifndef COLLECTOR_BOARD_KAFKA_H
#define COLLECTOR_BOARD_KAFKA_H

#include "collector/sink/sink.h"
#include "collector/source/source.h"
#include "records.h"

struct kafka_progress {
	uint64_t taken;	     /* messages, at the last look */
	uint64_t stopped_us; /* Unix time: since then there was no progress; 0: all is well */
};

/* `k`, `s`: NULL without the option. */
void kafka_show_sink(struct record_writer *w, struct kafka_progress *p, const struct sink *k);
void kafka_show_source(struct record_writer *w, struct kafka_progress *p, const struct source *s);

#endif
