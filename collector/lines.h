/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines: what modules on sensors say (said_json.h), a file a module: DIR/MODULE.jsonl (--events).
 * In: where lines are in the output's buffer. Out: the lines, once that is written. Always holds: a
 * line is in a file only when its block is in the output, and in the order of those; a file ends
 * with a whole line. What a kill between the two leaves out is written by the next collector
 * (lines_recover.h). A write that fails is undone, said once and counted: the output has its lines.
 * The same holds for a write that would not leave --keep-free on the folder's file system.
 *
 * Names of modules are the sensors' to choose. Each sensor may be the first to name
 * LINES_SENSOR_MAX of them, whatever others have named, so that none takes what another one needs.
 * No more than LINES_OPEN_MAX files are open at once (lines_open.c). When more are in use, each
 * sensor may cause LINES_OPENS of them to be opened again in a second: other lines of it for files
 * that are not open are refused.
 */
#ifndef COLLECTOR_LINES_H
#define COLLECTOR_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "ration.h"
#include "said_json.h"

#define LINES_SENSOR_MAX 32    /* names that a sensor can be the first to use */
#define LINES_OPEN_MAX 512     /* files */
#define LINES_OPENS 128	       /* for a sensor in a second, when so many are open */
#define LINES_WAITING_MAX 4096 /* in the output's buffer */
#define LINES_RETRY_NS 10000000000ULL
#define LINES_BLOCK 4096 /* bytes that a write may take beyond its own, as files have blocks */

#define LINES_NONE UINT32_MAX /* no place, or no file */

/* A sensor's part, `names` in struct sensor. */
struct lines_names {
	uint16_t count; /* that it was the first to use */
	bool told;	/* that it has used up all */
	struct ration opens;
};

struct lines_file {
	char module[SAID_NAME_MAX + 1];
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

struct lines_place {
	uint32_t at; /* in the output's buffer */
	uint16_t len;
	uint32_t next; /* of the same file */
};

struct lines {
	const char *folder; /* NULL: none are written */
	const struct keep_free *keep_free;
	int files;		/* socket to files.c */
	uint64_t written, lost; /* lines; those that could not be written, or their output */
	uint64_t refused;	/* of modules beyond so many names, or beyond LINES_OPENS */
	uint64_t recovered;	/* that a collector before this one had not come to */
	bool recovering;	/* the last lines of files are asked for */
	unsigned int count, room, waiting;
	size_t waiting_bytes;	/* that those may take on the disk */
	uint32_t first_waiting; /* file */
	struct lines_file *of;	/* `count` of them */
	uint32_t *index;	/* by hash: file + 1, or 0; 2 * `room`, a power of two */
	uint64_t uses;
	unsigned int open_count;
	uint32_t open[LINES_OPEN_MAX]; /* files that are */
	struct lines_place places[LINES_WAITING_MAX];
};

void lines_init(struct lines *l, const struct collector_options *o, int files);
/* Whether so many lines more can wait. */
static inline bool lines_have_room(const struct lines *l, unsigned int count)
{
	return l->waiting + count <= LINES_WAITING_MAX;
}

/* A line of a sensor is at `at` in the buffer. `sensor` is NULL where nobody is to be told that it
 * has used up its names. */
void lines_add(struct lines *l, const char *module, struct lines_names *names, const char *sensor,
	       uint32_t at, uint16_t len);
/* The buffer was written, or was not: so are the lines in it. */
void lines_flush(struct lines *l, const uint8_t *buffer, bool written);
/* Closes the files; they are opened again by the next lines. Nothing may be waiting. */
void lines_close(struct lines *l);
void lines_free(struct lines *l);

/* ---- lines_open.c ---------------------------------------------------------------------------- */

/* The file of a module, as a number in `of`; LINES_NONE where the sensor has used up its names. */
uint32_t lines_file(struct lines *l, const char *module, struct lines_names *names);
/* Whether a line of this sensor may cause the file to be opened, where it is not. */
bool lines_may_open(const struct lines *l, const struct lines_file *f, struct lines_names *names);
/* Opens it, and may close another. Returns 0 or -errno; FILES_TOO_MANY. Where it failed within
 * LINES_RETRY_NS, it fails again at once. */
int lines_open(struct lines *l, struct lines_file *f, uint64_t now_ns);

#endif
