/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output, sink: with --sink, the output's other half: combos go to Kafka's brokers instead of a
 * file. A combo is settled when the brokers have it, so sensors keep their frames while the brokers
 * are away. In: opened and checked combos (split_combo.c). Out: sink.h.
 */
#ifndef COLLECTOR_OUTPUT_OUTPUT_SINK_H
#define COLLECTOR_OUTPUT_OUTPUT_SINK_H

#include "buffer.h"
#include "collector/sink/sink.h"
#include "wire/totals.h"

/* Connects the sink, which the caller has set, with the output. */
void output_sink_init(struct output *out);
/* Puts a combo, of which `name.frames` - `name.refused` frames count as pending from now on. */
void output_sink_combo(struct output *out, struct sensor *s, const struct combo_name *name,
		       const uint8_t *combo, size_t len, uint64_t now_ns);
/* Put a sensor's progress, and its totals, as received. Without a sink they do nothing. */
void output_progress(struct output *out, struct sensor *s, const uint8_t *message, size_t len,
		     uint64_t now_ns);
void output_totals(struct output *out, struct sensor *s, const uint8_t *message, size_t len,
		   bool final, uint64_t now_ns);

#endif
