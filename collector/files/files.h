/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files, opened by the privileged process for the other one, which may open none: output files
 * also for rotation (an unprivileged tcpdump fails there), and the statistics and state files,
 * replaced in one piece. Asked over a socket, answered with a descriptor.
 */
#ifndef COLLECTOR_FILES_FILES_H
#define COLLECTOR_FILES_FILES_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "limit.h"
#include "collector/model/settings.h"
#include "wire/module_event.h"

enum files_request {
	FILES_OUTPUT = 1,     /* the next output file; FILES_TOO_MANY */
	FILES_STATS = 2,      /* a new statistics file, not yet in place */
	FILES_STATS_DONE = 3, /* it is written: put it in place */
	FILES_STATE_READ = 4, /* the state file; -ENOENT: none is kept */
	FILES_STATE = 5,      /* a new one, not yet in place */
	FILES_STATE_DONE = 6,
	FILES_SENSORS = 8, /* the sensors file as it is now */
	FILES_OLD = 7, /* the newest file of the series not answered yet; -ENOENT: there is none,
			* or an output file was opened, -EWOULDBLOCK: another collector writes
			* to it */
	FILES_EVENT_LOG = 9,	/* the file of a module's lines; FILES_TOO_MANY */
	FILES_STATS_SPARE = 10, /* the spare statistics file: to be reserved, or the new one */
	FILES_STATE_SPARE = 11,
};

struct files_request_message {
	uint8_t what; /* enum files_request */
	char module[MODULE_EVENT_NAME_MAX + 1];
};

struct files_answer {
	int err;	   /* 0, or -errno; with 0 a descriptor comes along, but for _DONE */
	bool existed;	   /* FILES_OUTPUT: to be appended to */
	bool in_series;	   /* FILES_OUTPUT: another may follow */
	uint64_t size_max; /* FILES_OUTPUT: bytes that may be in it, where it is a file */
	char name[PATH_MAX];
};

/* A file that is replaced as a whole (replaced.h). */
struct replaced {
	char path[PATH_MAX], temporary[PATH_MAX], spare[PATH_MAX];
	bool spared; /* the spare one was opened last: it is the new one */
};

struct files {
	const struct collector_options *o;
	bool is_dir;
	unsigned int number;	      /* of the next file in a series */
	struct replaced stats, state; /* their paths are "" where none is kept */
	int state_fd;		      /* locked, so that it is ours alone */
	int state_new_fd;	      /* what will be in its place */
	int event_log_folder;	      /* --events, locked; -1: none */
	struct files_limit limit;
	char **old; /* names of the series that were there, the oldest first; not yet answered */
	unsigned int old_count;
};

/* The privileged side. */
int files_init(struct files *f, const struct collector_options *o); /* 0, or -errno after a line */
/* Answers one request on `sock`. Returns 0, or -EPIPE where the other process is gone. */
int files_answer(struct files *f, int sock);
void files_free(struct files *f);

/* The unprivileged side (ask.c): asks and waits. Returns 0 or -errno; `fd` is then the
 * caller's. */
int files_ask(int sock, enum files_request what, struct files_answer *a, int *fd);
/* The same for FILES_EVENT_LOG, of this module. */
int files_ask_module(int sock, const char *module, struct files_answer *a, int *fd);
/* Asks for a new file that is to replace another one, with room for twice as much as the last one
 * had. Returns NULL where there is none: `*err`. */
FILE *files_new(int sock, enum files_request what, int *err);
/* It is written, or was not: `err`. Then it is closed, and put in place. Returns 0 or -errno. */
int files_new_done(int sock, enum files_request done, FILE *f, int err);

#endif
