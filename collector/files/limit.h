/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limit: how many files the unprivileged process may have. It reads strangers' datagrams, so an
 * attacker may control it. In: its requests, the size of its last file. Out: whether a request is
 * granted. Always holds: a correct collector is never refused.
 *
 * -w FILE is one output file, and so is -w DIR as a rule. With -C or -G, FILES_SPARE_MAX files may
 * be opened at once, and one more per FILES_SPARE_NS, more than -G needs. Further files may be
 * opened if the last one is full: it has the size of -C, or the largest size of a file. Then
 *
 * - the last file must occupy 1/FILES_SIZE_PART of that size on the disk. A full file always does,
 *   as a combo is smaller than the rest.
 * - their number is limited to what a collector fills at FILES_SIZE_RATE. This also limits a
 *   process that truncates its last file again and again.
 *
 * In any case, 1/FILES_INODES_PART of the file system's inodes stays free for other services.
 *
 * FILES_SENSOR_MODULES event files can be made per listed sensor, and as many again after each
 * SIGHUP, which operators send after moving files away. Existing files may be opened at any time.
 */
#ifndef COLLECTOR_FILES_LIMIT_H
#define COLLECTOR_FILES_LIMIT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/model/settings.h"

/* The limit is reached. Opening a file never fails with this error. */
#define FILES_TOO_MANY (-E2BIG)

#define FILES_SPARE_MAX 600
#define FILES_SPARE_NS 1000000000ULL
#define FILES_SIZE_PART 64
#define FILES_SIZE_RATE 1 /* bytes per nanosecond: 1 GB/s; a burst of FILES_SIZE_NS */
#define FILES_SIZE_NS 10000000000ULL
#define FILES_INODES_PART 64
/* Twice EVENT_LOG_SENSOR_MAX, as a file of an earlier collector may count too. */
#define FILES_SENSOR_MODULES 64

struct files_limit {
	bool opened;		       /* an output file was requested */
	int last;		       /* the last opened output file; -1: none */
	uint64_t spare_until_ns;       /* CLOCK_MONOTONIC: spare files are used until then, */
	uint64_t size_until_ns;	       /* and files for -C */
	uint64_t few_logged_ns;	       /* last warning of few inodes */
	uint64_t rlimit;	       /* RLIMIT_FSIZE at the start */
	uint64_t full_bytes;	       /* size at which the last file is full */
	uint64_t refused, logged_ns;   /* refused requests; last warning */
	uint64_t modules, modules_max; /* event files: made, allowed */
};

void files_limit_init(struct files_limit *l);
void files_limit_free(struct files_limit *l);
/* Checks whether another output file may be opened now. Returns 0, FILES_TOO_MANY, or -ENOSPC if
 * too few inodes are free. `series`: the options of a series; NULL: a single file. */
int files_limit_output(struct files_limit *l, const struct collector_options *series,
		       uint64_t now_ns);
/* Notes the opened file: regular, not yet passed to the other process. Returns its largest size in
 * bytes, limited by its file system (FAT: 4 GiB) and RLIMIT_FSIZE. */
uint64_t files_limit_opened(struct files_limit *l, const struct collector_options *o, int fd);
/* Raises the limit of event files to that of so many sensors. */
void files_limit_sensors(struct files_limit *l, uint64_t sensors);
/* The same for the lines of this file. `fd` is at the file's beginning, before and after. */
void files_limit_sensors_file(struct files_limit *l, int fd);
/* Restarts the count of event files: the operator may have moved them away. */
void files_limit_moved(struct files_limit *l);
/* Checks whether another event file may be made in the folder. Returns 0, -ENOSPC or
 * FILES_TOO_MANY. */
int files_limit_module(struct files_limit *l, int folder, uint64_t now_ns);

#endif
