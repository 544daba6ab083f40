/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buffer: the state that the stages of output/ share: the buffer, its file, and the data that waits
 * for the next write. Only output.c and later stages change it. Includes only stages that do not
 * use the buffer.
 */
#ifndef COLLECTOR_OUTPUT_BUFFER_H
#define COLLECTOR_OUTPUT_BUFFER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "budget.h"
#include "event_log.h"
#include "collector/live/live.h"
#include "collector/model/settings.h"
#include "collector/files/ring.h"
#include "collector/files/signals.h"
#include "state.h"
#include "wire/combo.h"
#include "wire/dwell.h"
#include "wire/module_event.h"

#define OUTPUT_FLUSH_NS 50000000ULL /* half of the promised 100 ms */
#define OUTPUT_BUFFER (1024 * 1024)

struct sensor;
struct sensors;
struct sink;

/* See output_hold.h. */
struct output_hold {
	bool on;	   /* the buffer waits for room on the disk */
	bool logged;	   /* the hold was logged, its end not yet */
	uint64_t begun_ns; /* CLOCK_MONOTONIC */
	uint64_t tried_ns; /* time of the last failed write or query */
	uint64_t count;	   /* holds so far */
	uint64_t ns;	   /* their total time, without the current one */
};

struct output {
	const struct collector_options *o;
	struct sensors *sensors;
	int files;		/* socket to serve.c */
	struct live *live;	/* NULL: no viewers */
	struct sink *sink;	/* --sink, then there is no file; NULL: none */
	struct signals *orders; /* a stop ends the wait for a slow reader */
	bool of_capture;	/* of `saluki capture`: nobody else has its frames */
	int fd;
	char name[PATH_MAX];
	char ring[RING_COMMENT_MAX];   /* the section header's comment */
	bool regular;		       /* a file: a partial write is truncated to `size` */
	uint64_t size;		       /* bytes flushed to this file */
	uint64_t written_bytes;	       /* to all files */
	uint64_t written_ns;	       /* CLOCK_MONOTONIC of the last write; 0: none yet */
	uint64_t size_max;	       /* its limit; UINT64_MAX: no further file follows */
	uint64_t opened_ns;	       /* CLOCK_MONOTONIC */
	uint64_t no_rotation_until_ns; /* until then no new file is requested */
	int no_rotation_logged;	       /* logged reason: -errno or FILES_TOO_MANY */
	unsigned int section;	       /* rises with every section header */
	uint32_t interfaces;	       /* interface blocks in this section */
	bool fresh;		       /* this file has no combo yet */
	bool ended;		       /* its time is over, and its statistics are written */
	bool broken;		       /* the last write failed */
	bool failure_logged;	       /* a failure was logged, its end not yet */
	uint64_t failed_ns;	       /* CLOCK_MONOTONIC of the last failed write */
	bool gone;		       /* the pipe has no reader */
	bool over;		       /* a capture's write failed: nothing more is written */
	struct output_hold hold;
	struct budget budget;
	uint64_t write_errors;
	uint64_t writes;	    /* of the buffer: its combos are written, or lost */
	uint64_t buffered_since_ns; /* 0: empty buffer */
	struct sensor *pending;	    /* list of sensors with combos in the buffer */
	struct written names;	    /* settled combos, also of earlier processes */
	struct event_log lines;	    /* modules' events */
	struct state state;	    /* other code raises `floor_ns` */
	uint64_t saved_ns;	    /* `floor_ns` in the state file */
	bool stateful;		    /* there is a state file */
	bool state_logged;	    /* a failed write was logged */
	bool reopen;		    /* reopen the event log's files after the next write */
	bool unnamed;		    /* `combo` has no name in the buffer yet */
	size_t combo_at;	    /* begin of the current combo in the buffer */
	struct combo_name combo;    /* name of the current combo */
	size_t len;
	uint8_t buffer[OUTPUT_BUFFER];
};

#endif
