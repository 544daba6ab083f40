/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event log: modules' events (event_json.h), one file per module: DIR/MODULE.jsonl (--events). In:
 * places of lines in the output's buffer. Out: the lines, after the buffer was written. Always
 * holds: a file has a line only after the output has its block, and in the same order; a file ends
 * with a whole line. After a kill between the two, the next collector writes the missing lines
 * (event_log_recover.h). A failed write is undone, logged once and counted; the output still has
 * the lines. So is a write that would not leave --keep-free on the folder's file system.
 *
 * Sensors choose the modules' names. Each sensor may introduce EVENT_LOG_SENSOR_MAX names, whatever
 * others do, so that no sensor can use up the names of another. At most EVENT_LOG_OPEN_MAX files
 * are open (event_log_files.c). If more are in use, each sensor may cause EVENT_LOG_OPENS
 * reopenings per second. Its further lines for closed files are refused.
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
#define EVENT_LOG_OPENS 128	   /* per sensor and second, when so many are open */
#define EVENT_LOG_WAITING_MAX 4096 /* in the output's buffer */
#define EVENT_LOG_RETRY_NS 10000000000ULL
/* Extra bytes of a write, as files have blocks. */
#define EVENT_LOG_BLOCK 4096

#define EVENT_LOG_NONE UINT32_MAX /* no place, or no file */

struct event_log_names;

struct event_log_file {
	char module[MODULE_EVENT_NAME_MAX + 1];
	int fd;			   /* -1: not open */
	bool logged;		   /* the failure was logged */
	uint64_t failed_ns;	   /* CLOCK_MONOTONIC of the last failed write */
	uint64_t no_open_until_ns; /* CLOCK_MONOTONIC */
	uint64_t used;		   /* a counter of uses, for LRU */
	unsigned int waiting;
	uint32_t first, last;  /* places of its waiting lines */
	uint32_t next_waiting; /* next file with waiting lines */
	char *end;	       /* its last line at the opening; NULL: not needed */
};

struct event_log_place {
	uint32_t at; /* in the output's buffer */
	uint16_t len;
	uint32_t next; /* next of the same file */
};

struct event_log {
	const char *folder; /* NULL: no event log */
	const struct space *keep_free;
	int files;		/* socket to serve.c */
	uint64_t written, lost; /* lines written; lines lost, with a write or with the output */
	uint64_t refused;	/* lines beyond the limits of names or of EVENT_LOG_OPENS */
	uint64_t recovered;	/* lines that an earlier collector had not written */
	bool recovering;	/* files' last lines are read */
	unsigned int count, room, waiting;
	size_t waiting_bytes;	   /* their most bytes on the disk */
	uint32_t first_waiting;	   /* file */
	struct event_log_file *of; /* `count` of them */
	uint32_t *index; /* hash table: file + 1, or 0; 2 * `room` entries, a power of two */
	uint64_t uses;
	unsigned int open_count;
	uint32_t open[EVENT_LOG_OPEN_MAX]; /* files that are */
	struct event_log_place places[EVENT_LOG_WAITING_MAX];
};

void event_log_init(struct event_log *l, const struct collector_options *o, int files);
/* Whether there is room for so many more lines. */
static inline bool event_log_have_room(const struct event_log *l, unsigned int count)
{
	return l->waiting + count <= EVENT_LOG_WAITING_MAX;
}

/* Notes a sensor's line at `at` in the buffer. `sensor` NULL: do not log that it has used up its
 * names. */
void event_log_add(struct event_log *l, const char *module, struct event_log_names *names,
		   const char *sensor, uint32_t at, uint16_t len);
/* Call it when the buffer was written or lost: writes or drops its lines. */
void event_log_flush(struct event_log *l, const uint8_t *buffer, bool written);
/* Closes the files, when no line waits. The next lines open them again. */
void event_log_close(struct event_log *l);
void event_log_free(struct event_log *l);

/* ---- event_log_files.c -------------------------------------------------------------------- */

/* Returns a module's file, as a number in `of`; EVENT_LOG_NONE if the sensor has used up its names.
 */
uint32_t event_log_file(struct event_log *l, const char *module, struct event_log_names *names);
/* Whether a line of this sensor may open the file. */
bool event_log_may_open(const struct event_log *l, const struct event_log_file *f,
			struct event_log_names *names);
/* Opens it, and may close another. Returns 0, -errno or FILES_TOO_MANY. Fails at once within
 * EVENT_LOG_RETRY_NS of a failure. */
int event_log_open(struct event_log *l, struct event_log_file *f, uint64_t now_ns);

#endif
