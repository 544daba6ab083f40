/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buffer: the state that the stages of output/ share: the buffer, the file that it is written to,
 * and what waits for that write. Only output.c and the stages behind it write to it. Includes only
 * stages that know nothing of the buffer.
 */
#ifndef COLLECTOR_OUTPUT_BUFFER_H
#define COLLECTOR_OUTPUT_BUFFER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "budget.h"
#include "event_log.h"
#include "collector/model/settings.h"
#include "collector/files/signals.h"
#include "state.h"
#include "wire/combo.h"
#include "wire/dwell.h"
#include "wire/module_event.h"

#define OUTPUT_FLUSH_NS 50000000ULL /* half of what "at least every 100 ms" allows */
#define OUTPUT_BUFFER (1024 * 1024)

struct sensor;
struct sensors;

/* See output_hold.h. */
struct output_hold {
	bool on;	   /* the buffer waits for room on the disk */
	bool told;	   /* that it does, and not yet that it is over */
	uint64_t begun_ns; /* CLOCK_MONOTONIC */
	uint64_t tried_ns; /* when the last write failed, or the file system was asked */
	uint64_t count;	   /* holds so far */
	uint64_t ns;	   /* how long they took, without the present one */
};

struct output {
	const struct collector_options *o;
	struct sensors *sensors;
	int files;		/* socket to serve.c */
	struct signals *orders; /* to stop ends the wait for a reader that does not read */
	int fd;
	char name[PATH_MAX];
	bool regular;		       /* a file: what is half written is cut back to `size` */
	uint64_t size;		       /* bytes flushed to this file */
	uint64_t size_max;	       /* that may be in it; UINT64_MAX: no other would follow */
	uint64_t opened_ns;	       /* CLOCK_MONOTONIC */
	uint64_t no_rotation_until_ns; /* no new file could be had */
	int no_rotation_told;	       /* why not, as it was said: -errno or FILES_TOO_MANY */
	unsigned int section;	       /* rises with every section header */
	uint32_t interfaces;	       /* interface blocks in this section */
	bool fresh;		       /* no combo is in this file yet */
	bool broken;		       /* the last write failed */
	bool told;		       /* that one did was said, and not yet that it is over */
	uint64_t failed_ns;	       /* CLOCK_MONOTONIC of the last one that did */
	bool gone;		       /* nobody reads the pipe any more */
	struct output_hold hold;
	struct budget budget;
	uint64_t write_errors;
	uint64_t buffered_since_ns; /* 0: nothing in the buffer */
	struct sensor *pending;	    /* first of those whose combos are in the buffer */
	struct written names;	    /* settled combos, of this process and of those before it */
	struct event_log lines;	    /* what modules say, beside the output */
	struct state state;	    /* `floor_ns` is for others to raise */
	uint64_t saved_ns;	    /* `floor_ns` that the state file has */
	bool stateful;		    /* a state file is kept */
	bool state_told;	    /* that it cannot be written */
	bool reopen;		    /* the files of lines, when the buffer is written */
	bool unnamed;		    /* `combo` is not written yet */
	size_t combo_at;	    /* where in the buffer the present combo begins */
	struct combo_name combo;    /* the present one's */
	size_t len;
	uint8_t buffer[OUTPUT_BUFFER];
};

#endif
