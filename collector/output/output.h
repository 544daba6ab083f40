/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output: combos become pcapng blocks in a buffer, the buffer becomes a file. Flushed when it is
 * full and OUTPUT_FLUSH_NS after its first frame at the latest, always whole combos with their
 * names in one write: a file is complete after every flush, and what is in it is settled then.
 *
 * A full disk, or one with less than --keep-free left, is a hold (output_hold.h): the buffer stays
 * as it is, nothing of it is settled, and it is written when there is room. A file that may not
 * grow any more has none for ever, so in a series the next one is begun before. Any other write
 * that fails is undone and said once; its frames are counted as lost and settled, and the next
 * flush tries again in a section of its own.
 */
#ifndef COLLECTOR_OUTPUT_OUTPUT_H
#define COLLECTOR_OUTPUT_OUTPUT_H

#include "buffer.h"

/* Reads the state file, takes the names from files, and opens the first one. Returns 0, or -errno
 * after a line. */
int output_init(struct output *out, const struct collector_options *o, struct sensors *sensors,
		int files, struct signals *orders);
/* A run of a sensor begins or goes on: written_find has `next` and `accounted`, or they are 0. What
 * was of another run has been ended by output_run_end. */
void output_run_begin(struct output *out, struct sensor *s, uint64_t run, uint64_t next,
		      uint64_t accounted);
/* Whether all that the sensor has in the buffer is written: otherwise it is tried now. */
bool output_is_written(struct output *out, const struct sensor *s);
/* Makes room for a combo, which output_combo must then begin at once. `bytes` are kept of its
 * frames (combo_reader.bytes), and what marks take. Returns false where it must wait. */
bool output_reserve(struct output *out, const struct combo_name *name, size_t bytes,
		    uint64_t now_ns);
/* A combo begins: its `name.frames` frames and `name.events` events follow by output_frame,
 * output_dwell and output_module_event, at least one of them. `name.sensor` and `name.run` are
 * filled in here. */
void output_combo(struct output *out, struct sensor *s, struct combo_name name);
/* All of it has followed. */
void output_combo_end(struct output *out, struct sensor *s, uint64_t now_ns);
/* Combos below `next` are lost, or were no combos, and there are `accounted` frames of the run
 * before it: settled with what is in the buffer. */
void output_passed(struct output *out, struct sensor *s, uint64_t next, uint64_t accounted);
/* Appends one frame of a sensor, and counts it in its ledger as pending. */
void output_frame(struct output *out, struct sensor *s, const struct combo_frame *f,
		  uint64_t now_ns);
/* Appends a dwell of a sensor, which has been read by coverage_read. */
void output_dwell(struct output *out, struct sensor *s, const struct dwell *d, uint64_t now_ns);
/* Appends what a module has said, which has been read by event_json_of: the combo's event `number`.
 */
void output_module_event(struct output *out, struct sensor *s, const struct module_event *said,
			 unsigned int number, uint64_t now_ns);
/* Somebody may have moved the files of lines: opens them anew. */
void output_reopen(struct output *out);
/* Flushes and rotates if it is time. Returns milliseconds until it wants to be called again, -1:
 * whenever. */
int output_tick(struct output *out, uint64_t now_ns);
/* A run of this sensor has ended: its statistics blocks. Nothing of it is in the buffer then; also
 * to be called before a sensor is freed. */
void output_run_end(struct output *out, struct sensor *s);
/* Statistics blocks of all sensors, last flush, close. What could not be written, sensors still
 * have; it is lost where they are one-way. */
void output_finish(struct output *out);

#endif
