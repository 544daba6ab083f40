/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output clock: what is known of a sensor's clock outside its combos (saluki-files(5)). In: the
 * sensor's watermark, and its clock's offset to this machine's. Out: statistics blocks between
 * combos, for readers of a pipe and of the live ring. Files have no watermarks, and offsets only
 * behind a combo, as a fleet that hears nothing must not fill the disk. Always holds: a sensor
 * without an interface block gets no blocks.
 */
#ifndef COLLECTOR_OUTPUT_OUTPUT_CLOCK_H
#define COLLECTOR_OUTPUT_OUTPUT_CLOCK_H

#include "buffer.h"

#define OFFSET_STREAM_NS 750000000ULL /* a reader gets one of each second's offsets */
#define OFFSET_FILE_NS 10000000000ULL /* a file; and if it has changed by OFFSET_MUCH_NS */
#define OFFSET_MUCH_NS 1000000

/* All frames of the sensor with stamps below `before_ns` are in the output. */
void output_watermark(struct output *out, struct sensor *s, uint64_t before_ns, uint64_t now_ns);
/* The sensor's clock is ahead of this machine's. */
void output_offset(struct output *out, struct sensor *s, int64_t ahead_ns, uint64_t round_trip_ns,
		   uint64_t now_ns);
/* Writes the offset to a file after a combo, if due. output_reserve has made room. */
void output_offset_due(struct output *out, struct sensor *s, uint64_t now_ns);

#endif
