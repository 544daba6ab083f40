/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many files the other process may have: it is the one that strangers' datagrams reach, and may
 * be taken over. In: its requests, what it has written. Out: whether a request is granted. Always
 * holds: a collector that works as it should is never refused.
 *
 * -w FILE is one output file, and so is -w DIR as a rule. With -C and -G FILES_SPARE_MAX may be
 * opened at once, and one more each second, which is more than -G asks for. Others may be opened
 * when a file is full: it has the size of -C, or no more may be in one file. Then
 *
 * - the file before takes a FILES_SIZE_PART of that size on the disk. A file that is changed for
 *   the next one is larger than that, as no combo is that large.
 * - they are not more than a collector fills that writes FILES_SIZE_RATE. A process that cuts the
 *   file before again meets this limit.
 *
 * In any case one in FILES_INODES_PART of the file system's inodes stays free for other services.
 *
 * FILES_SENSOR_MODULES files of events can be made for each sensor that the sensors file lists, and
 * as many again after each SIGHUP, which follows when files were moved away. Files that are there
 * may be opened at any time.
 */
#ifndef COLLECTOR_FILES_LIMIT_H
#define COLLECTOR_FILES_LIMIT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/model/settings.h"

/* There are as many files as there may be: no error that opening one has. */
#define FILES_TOO_MANY (-E2BIG)

#define FILES_SPARE_MAX 600
#define FILES_SPARE_NS 1000000000ULL
#define FILES_SIZE_PART 64
#define FILES_SIZE_RATE 1 /* bytes a nanosecond, which is 1 GB/s; for FILES_SIZE_NS at once */
#define FILES_SIZE_NS 10000000000ULL
#define FILES_INODES_PART 64
/* Twice EVENT_LOG_SENSOR_MAX: also out of the file of one before. */
#define FILES_SENSOR_MODULES 64

struct files_limit {
	bool opened;		       /* an output file was asked for */
	int last;		       /* the one that was opened last; -1: none */
	uint64_t spare_until_ns;       /* CLOCK_MONOTONIC: spare files are used up so far ahead, */
	uint64_t size_until_ns;	       /* and those that -C asks for */
	uint64_t few_told_ns;	       /* that there are few inodes */
	uint64_t rlimit;	       /* RLIMIT_FSIZE at the start */
	uint64_t full_bytes;	       /* the size that ends the last file */
	uint64_t refused, told_ns;     /* requests; when that was said last */
	uint64_t modules, modules_max; /* files of events that were made, and may be */
};

void files_limit_init(struct files_limit *l);
void files_limit_free(struct files_limit *l);
/* Whether another output file may be opened now: 0, FILES_TOO_MANY, or -ENOSPC where there are few
 * inodes. `series` are the options of one; NULL: there is one file. */
int files_limit_output(struct files_limit *l, const struct collector_options *series,
		       uint64_t now_ns);
/* It is this one, a regular file that nobody else has yet. Returns the bytes that may be in it: by
 * its file system, such as FAT's 4 GiB, and by RLIMIT_FSIZE. */
uint64_t files_limit_opened(struct files_limit *l, const struct collector_options *o, int fd);
/* So many sensors are listed, or were at some time before. */
void files_limit_sensors(struct files_limit *l, uint64_t sensors);
/* As many as this file has lines, at most; `fd` is at its beginning, and stays there. */
void files_limit_sensors_file(struct files_limit *l, int fd);
/* The operator may have moved files away. */
void files_limit_moved(struct files_limit *l);
/* Whether another file of events may be made in that folder: 0, -ENOSPC or FILES_TOO_MANY. */
int files_limit_module(struct files_limit *l, int folder, uint64_t now_ns);

#endif
