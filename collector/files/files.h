/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files: the privileged process opens files for the unprivileged one, which may open none: output
 * files, also for rotation, and the statistics and state files, which are replaced as a whole.
 * Requests arrive over a socket; the answer carries a descriptor.
 */
#ifndef COLLECTOR_FILES_FILES_H
#define COLLECTOR_FILES_FILES_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "limit.h"
#include "ring.h"
#include "collector/model/settings.h"
#include "wire/module_event.h"

enum files_request {
	FILES_OUTPUT = 1,     /* the next output file; FILES_TOO_MANY */
	FILES_STATS = 2,      /* a new statistics file, not yet in place */
	FILES_STATS_DONE = 3, /* put the written file in place */
	FILES_STATE_READ = 4, /* the state file; -ENOENT: none is kept */
	FILES_STATE = 5,      /* a new state file, not yet in place */
	FILES_STATE_DONE = 6,
	FILES_SENSORS = 8, /* the sensors file as it is now */
	FILES_OLD = 7, /* the next older file of the series, the newest first; -ENOENT: none left,
			* or an output file was opened, -EWOULDBLOCK: another collector writes
			* to it */
	FILES_EVENT_LOG = 9,	/* the file of a module's lines; FILES_TOO_MANY */
	FILES_STATS_SPARE = 10, /* the spare statistics file: to reserve or to write it */
	FILES_STATE_SPARE = 11,
};

struct files_request_message {
	uint8_t what; /* enum files_request */
	char module[MODULE_EVENT_NAME_MAX + 1];
};

struct files_answer {
	int err;		     /* 0 with a descriptor (none for _DONE), or -errno */
	bool existed;		     /* FILES_OUTPUT: append to it */
	bool in_series;		     /* FILES_OUTPUT: a further file may follow */
	uint64_t size_max;	     /* FILES_OUTPUT: most bytes of a regular file */
	char ring[RING_COMMENT_MAX]; /* FILES_OUTPUT: the section header's comment */
	char name[PATH_MAX];
};

/* A file that is replaced as a whole (replaced.h). */
struct replaced {
	char path[PATH_MAX], temporary[PATH_MAX], spare[PATH_MAX];
	bool spared; /* the spare file was opened last and becomes the new one */
};

struct files {
	const struct collector_options *o;
	bool is_dir;
	unsigned int number;	      /* of the next file in a series */
	struct replaced stats, state; /* path "": the file is not kept */
	int state_fd;		      /* locked against other collectors */
	int state_new_fd;	      /* its successor, not yet in place */
	int event_log_folder;	      /* --events, locked; -1: none */
	struct files_limit limit;
	struct ring ring;    /* -W */
	char last[PATH_MAX]; /* name of the series' current file */
	char **old;	     /* the series' earlier files, oldest first, not yet opened */
	unsigned int old_count;
};

/* The privileged side (serve.c). */
int files_init(struct files *f, const struct collector_options *o); /* 0, or -errno after a line */
/* Answers one request on `sock`: of the process for statistics, or of the receiving one. Returns 0,
 * or -EPIPE if the other process has ended. */
int files_answer(struct files *f, int sock, bool statistics);
void files_free(struct files *f);

/* The unprivileged side (ask.c): sends a request and waits for the answer. Returns 0 or -errno. The
 * caller closes `fd`. */
int files_ask(int sock, enum files_request what, struct files_answer *a, int *fd);
/* The same for FILES_EVENT_LOG and this module. */
int files_ask_module(int sock, const char *module, struct files_answer *a, int *fd);
/* Opens a new file that replaces another one, with space for twice the last one's size. Returns
 * NULL with `*err` on failure. */
FILE *files_new(int sock, enum files_request what, int *err);
/* Closes the new file, and puts it in place if `err`, the result of writing it, is 0. Returns 0 or
 * -errno. */
int files_new_done(int sock, enum files_request done, FILE *f, int err);

#endif
