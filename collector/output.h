/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output: frames become pcapng blocks in a buffer, the buffer becomes a file. Flushed when it is
 * full and OUTPUT_FLUSH_NS after its first frame at the latest, always whole blocks in one
 * write: a file is complete after every flush. A write that fails (a full disk) is undone, said
 * once, and its frames are counted; the next flush tries again in a section of its own.
 */
#ifndef COLLECTOR_OUTPUT_H
#define COLLECTOR_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "orders.h"
#include "wire/combo.h"

#define OUTPUT_FLUSH_NS 50000000ULL /* half of what "at least every 100 ms" allows */
#define OUTPUT_RECOVERED_NS 1000000000ULL
#define OUTPUT_BUFFER (1024 * 1024)
struct sensor;
struct sensors;

struct output {
	const struct collector_options *o;
	struct sensors *sensors;
	int files;	       /* socket to files.c */
	struct orders *orders; /* to stop ends the wait for a reader that does not read */
	int fd;
	char name[PATH_MAX];
	bool regular;		       /* a file: what is half written is cut back to `size` */
	uint64_t size;		       /* bytes flushed to this file */
	uint64_t opened_ns;	       /* CLOCK_MONOTONIC */
	uint64_t no_rotation_until_ns; /* no new file could be had */
	unsigned int section;	       /* rises with every section header */
	uint32_t interfaces;	       /* interface blocks in this section */
	bool broken;		       /* the last write failed */
	bool told;		       /* that one did was said, and not yet that it is over */
	uint64_t failed_ns;	       /* CLOCK_MONOTONIC of the last one that did */
	bool gone;		       /* nobody reads the pipe any more */
	uint64_t write_errors;
	uint64_t buffered_since_ns; /* 0: nothing in the buffer */
	size_t len;
	uint8_t buffer[OUTPUT_BUFFER];
};

/* Opens the first file. Returns 0, or -errno after a line. */
int output_init(struct output *out, const struct collector_options *o, struct sensors *sensors,
		int files, struct orders *orders);
/* Appends one frame of a sensor. */
void output_frame(struct output *out, struct sensor *s, const struct combo_frame *f,
		  uint64_t now_ns);
/* Flushes and rotates if it is time. Returns milliseconds until it wants to be called again, -1:
 * whenever. */
int output_tick(struct output *out, uint64_t now_ns);
/* A run of this sensor has ended: its statistics blocks. */
void output_run_end(struct output *out, struct sensor *s);
/* Statistics blocks of all sensors, last flush, close. */
void output_finish(struct output *out);

#endif
