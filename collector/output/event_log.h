/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event log: what modules on sensors say (event_json.h), a file a module: DIR/MODULE.jsonl
 * (--events). In: where lines are in the output's buffer. Out: the lines, once that is written.
 * Always holds: a line is in a file only when its block is in the output, and in the order of
 * those; a file ends with a whole line. What a kill between the two leaves out is written by the
 * next collector (event_log_recover.h). A write that fails is undone, said once and counted: the
 * output has its lines. The same holds for a write that would not leave --keep-free on the folder's
 * file system.
 *
 * Names of modules are the sensors' to choose. Each sensor may be the first to name
 * EVENT_LOG_SENSOR_MAX of them, whatever others have named, so that none takes what another one
 * needs. No more than EVENT_LOG_OPEN_MAX files are open at once (event_log_files.c). When more are
 * in use, each sensor may cause EVENT_LOG_OPENS of them to be opened again in a second: other lines
 * of it for files that are not open are refused.
 */
#ifndef COLLECTOR_OUTPUT_EVENT_LOG_H
#define COLLECTOR_OUTPUT_EVENT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/model/settings.h"
#include "event_json.h"

#define EVENT_LOG_SENSOR_MAX 32	   /* names that a sensor can be the first to use */
#define EVENT_LOG_OPEN_MAX 512	   /* files */
#define EVENT_LOG_OPENS 128	   /* for a sensor in a second, when so many are open */
#define EVENT_LOG_WAITING_MAX 4096 /* in the output's buffer */
#define EVENT_LOG_RETRY_NS 10000000000ULL
/* Bytes that a write may take beyond its own, as files have blocks. */
#define EVENT_LOG_BLOCK 4096

#define EVENT_LOG_NONE UINT32_MAX /* no place, or no file */

struct event_log_names;

struct event_log_file {
	char module[MODULE_EVENT_NAME_MAX + 1];
	int fd;			   /* -1: not open */
	bool told;		   /* that it cannot be written */
	uint64_t failed_ns;	   /* CLOCK_MONOTONIC of the last write that did */
	uint64_t no_open_until_ns; /* CLOCK_MONOTONIC */
	uint64_t used;		   /* rises with each use of any */
	unsigned int waiting;
	uint32_t first, last;  /* places of its lines that wait */
	uint32_t next_waiting; /* file with lines that wait */
	char *end;	       /* its last line as it was opened; NULL: nobody asks */
};

struct event_log_place {
	uint32_t at; /* in the output's buffer */
	uint16_t len;
	uint32_t next; /* of the same file */
};

struct event_log {
	const char *folder; /* NULL: none are written */
	const struct keep_free *keep_free;
	int files;		/* socket to serve.c */
	uint64_t written, lost; /* lines; those that could not be written, or their output */
	uint64_t refused;	/* of modules beyond so many names, or beyond EVENT_LOG_OPENS */
	uint64_t recovered;	/* that a collector before this one had not come to */
	bool recovering;	/* the last lines of files are asked for */
	unsigned int count, room, waiting;
	size_t waiting_bytes;	   /* that those may take on the disk */
	uint32_t first_waiting;	   /* file */
	struct event_log_file *of; /* `count` of them */
	uint32_t *index;	   /* by hash: file + 1, or 0; 2 * `room`, a power of two */
	uint64_t uses;
	unsigned int open_count;
	uint32_t open[EVENT_LOG_OPEN_MAX]; /* files that are */
	struct event_log_place places[EVENT_LOG_WAITING_MAX];
};

void event_log_init(struct event_log *l, const struct collector_options *o, int files);
/* Whether so many lines more can wait. */
static inline bool event_log_have_room(const struct event_log *l, unsigned int count)
{
	return l->waiting + count <= EVENT_LOG_WAITING_MAX;
}

/* A line of a sensor is at `at` in the buffer. `sensor` is NULL where nobody is to be told that it
 * has used up its names. */
void event_log_add(struct event_log *l, const char *module, struct event_log_names *names,
		   const char *sensor, uint32_t at, uint16_t len);
/* The buffer was written, or was not: so are the lines in it. */
void event_log_flush(struct event_log *l, const uint8_t *buffer, bool written);
/* Closes the files; they are opened again by the next lines. Nothing may be waiting. */
void event_log_close(struct event_log *l);
void event_log_free(struct event_log *l);

/* ---- event_log_files.c -------------------------------------------------------------------- */

/* The file of a module, as a number in `of`; EVENT_LOG_NONE where the sensor has used up its names.
 */
uint32_t event_log_file(struct event_log *l, const char *module, struct event_log_names *names);
/* Whether a line of this sensor may cause the file to be opened, where it is not. */
bool event_log_may_open(const struct event_log *l, const struct event_log_file *f,
			struct event_log_names *names);
/* Opens it, and may close another. Returns 0 or -errno; FILES_TOO_MANY. Where it failed within
 * EVENT_LOG_RETRY_NS, it fails again at once. */
int event_log_open(struct event_log *l, struct event_log_file *f, uint64_t now_ns);

#endif
