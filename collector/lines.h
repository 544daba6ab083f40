/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines: what modules on sensors say (said_json.h), a file a module: DIR/MODULE.jsonl (--events).
 * In: where lines are in the output's buffer. Out: the lines, once that is written. Always holds: a
 * line is in a file only when its block is in the output, and in the order of those; a file ends
 * with a whole line. What a kill between the two leaves out is written by the next collector
 * (lines_recover.h). A write that fails is undone, said once and counted: the output has its lines.
 */
#ifndef COLLECTOR_LINES_H
#define COLLECTOR_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "said_json.h"

#define LINES_FILES_MAX 256    /* there can be no more in the folder by us */
#define LINES_SENSOR_MAX 64    /* of them a sensor can be the first to name */
#define LINES_WAITING_MAX 4096 /* in the output's buffer */
#define LINES_RETRY_NS 10000000000ULL

struct lines_file {
	char module[SAID_NAME_MAX + 1];
	int fd;			   /* -1: not open */
	bool told;		   /* that it cannot be written */
	uint64_t failed_ns;	   /* CLOCK_MONOTONIC of the last write that did */
	bool refused;		   /* there are too many files */
	uint64_t no_open_until_ns; /* CLOCK_MONOTONIC */
	unsigned int waiting;
};

struct lines_place {
	uint32_t at; /* in the output's buffer */
	uint16_t len;
	uint16_t file;
};

struct lines {
	const char *folder;	/* NULL: none are written */
	int files;		/* socket to files.c */
	uint64_t written, lost; /* lines; those that could not be written, or their output */
	uint64_t refused;	/* of modules beyond so many files */
	uint64_t recovered;	/* that a collector before this one had not come to */
	bool told;		/* that some are refused */
	unsigned int count, waiting;
	char (*last)[SAID_JSON_MAX]; /* of each file, as it was opened; NULL: nobody asks */
	struct lines_file of[LINES_FILES_MAX];
	struct lines_place places[LINES_WAITING_MAX];
};

void lines_init(struct lines *l, const char *folder, int files);
/* The file of a module; NULL where there are too many. `named` counts those that the sensor was the
 * first to name; NULL: it was none. */
struct lines_file *lines_file(struct lines *l, const char *module, uint16_t *named);
/* The same, open; NULL where it cannot be. */
struct lines_file *lines_open(struct lines *l, const char *module, uint16_t *named,
			      uint64_t now_ns);
/* Whether so many lines more can wait. */
static inline bool lines_have_room(const struct lines *l, unsigned int count)
{
	return l->waiting + count <= LINES_WAITING_MAX;
}

/* A line is at `at` in the buffer. */
void lines_add(struct lines *l, const char *module, uint16_t *named, uint32_t at, uint16_t len,
	       uint64_t now_ns);
/* The buffer was written, or was not: so are the lines in it. */
void lines_flush(struct lines *l, const uint8_t *buffer, bool written);
/* Closes the files; they are opened again by the next lines. Nothing may be waiting. */
void lines_close(struct lines *l);

#endif
