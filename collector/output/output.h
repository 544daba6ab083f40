/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output: writes combos as pcapng blocks into a buffer, and the buffer into a file. The buffer is
 * flushed when full, and at most OUTPUT_FLUSH_NS after its first frame. Each flush is one write of
 * whole combos with their names, so the file is complete after it, and its combos are settled.
 *
 * A full disk, or one with less than --keep-free left, causes a hold (output_hold.h): the buffer
 * stays, its combos are not settled, and it is written when there is room. A file at its size limit
 * never has room again, so in a series the next one begins before. Any other failed write is undone
 * and logged once. Its frames are counted as lost and settled, and the next flush tries again in a
 * new section. In `saluki capture`, such a failure ends the capture.
 */
#ifndef COLLECTOR_OUTPUT_OUTPUT_H
#define COLLECTOR_OUTPUT_OUTPUT_H

#include "buffer.h"

/* Reads the state file and the names in files, and opens the first file. Returns 0, or -errno after
 * a line. */
int output_init(struct output *out, const struct collector_options *o, struct sensors *sensors,
		int files, struct signals *orders);
/* A sensor's run begins or continues: `next` and `accounted` come from written_find, or are 0.
 * output_run_end has ended an earlier run. */
void output_run_begin(struct output *out, struct sensor *s, uint64_t run, uint64_t next,
		      uint64_t accounted);
/* Flushes if the buffer has data of the sensor. Returns whether it then has none. */
bool output_is_written(struct output *out, const struct sensor *s);
/* Makes room for a combo, which output_combo must begin at once. `bytes`: its frames' kept bytes
 * (combo_reader.bytes) and marks. Returns false if it must wait. */
bool output_reserve(struct output *out, const struct combo_name *name, size_t bytes,
		    uint64_t now_ns);
/* Begins a combo. Its `name.frames` frames and `name.events` events, at least one, follow by
 * output_frame, output_dwell, output_readings and output_module_event. `name.sensor` and `name.run`
 * are filled in here. */
void output_combo(struct output *out, struct sensor *s, struct combo_name name);
/* Ends a combo, after all its frames and events. */
void output_combo_end(struct output *out, struct sensor *s, uint64_t now_ns);
/* Combos below `next` are lost or invalid, with `accounted` frames of the run before it. They are
 * settled with the buffer. */
void output_passed(struct output *out, struct sensor *s, uint64_t next, uint64_t accounted);
/* Appends a sensor's frame, and counts it in the ledger as pending. */
void output_frame(struct output *out, struct sensor *s, const struct combo_frame *f,
		  uint64_t now_ns);
/* Appends a sensor's dwell, read by coverage_read. */
void output_dwell(struct output *out, struct sensor *s, const struct dwell *d, uint64_t now_ns);
/* Appends readings of a sensor's clocks. If the sensor has no interface block yet, `f` is a frame
 * that follows in the combo. */
void output_readings(struct output *out, struct sensor *s, const struct clock_readings *r,
		     const struct combo_frame *f, uint64_t now_ns);
/* Appends a module's event, read by event_json_of: the combo's event `number`.
 */
void output_module_event(struct output *out, struct sensor *s, const struct module_event *e,
			 unsigned int number, uint64_t now_ns);
/* Opens the event log's files again, as they may have been moved. */
void output_reopen(struct output *out);
/* Flushes and rotates when due. Returns milliseconds until it must be called again; -1: no time. */
int output_tick(struct output *out, uint64_t now_ns);
/* Writes the statistics blocks of a sensor's ended run. Then the buffer has no data of it. Also
 * called before a sensor is freed. */
void output_run_end(struct output *out, struct sensor *s);
/* Writes all sensors' statistics blocks, flushes and closes. Sensors that get ACKs still
 * have the combos that could not be written. Those of other sensors are lost. */
void output_finish(struct output *out);

#endif
