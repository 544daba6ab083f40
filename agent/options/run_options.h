/* SPDX-License-Identifier: GPL-2.0 */
/* A sensor's settings. options/ fills them in; their defaults are in sensor_options.c. Strings
 * point into argv. */
#ifndef AGENT_OPTIONS_RUN_OPTIONS_H
#define AGENT_OPTIONS_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/model/capture_options.h"
#include "agent/export/sockets.h"
#include "common/log.h"

struct run_options {
	struct capture_options capture;	       /* -i, or */
	const char *file;		       /* -r */
	struct sockets_name to[SOCKETS_PEERS]; /* by priority */
	unsigned int to_count;
	const char *key_file;
	const char *collector_keys; /* NULL: none */
	bool local;		    /* `to` is this command's own collector, whose end is ours */
	/* Instead of a key file: called after everything is attached and opened, and before the
	 * first frame is read. Returns a key file's descriptor, or -errno after a line. May be
	 * NULL. */
	int (*begin)(void *arg);
	void *begin_arg;
	int begin_fds[2]; /* its descriptors, which the unprivileged process closes; -1: none */
	int report;	  /* descriptor for the totals at the end; 0: standard error */
	pid_t helper;	  /* signalled at the end; negative: a process group; 0: none */
	uint64_t count;	  /* -c: stop after this many frames; 0: never */
	const char *user;
	unsigned int allowed; /* --allow-control: bits of enum order_kind */
	bool pace;
	bool pad;
	bool one_way;
	uint32_t renew_s;
	uint32_t store_bytes;
	const char *spool; /* NULL: none */
	uint64_t spool_bytes;
	uint32_t combo_size; /* bytes */
	uint32_t combo_age_ms;
	uint32_t queue;	    /* combos */
	uint32_t pipelines; /* 0: by the machine */
	int level;	    /* zstd, COMPRESS_NONE or LEVEL_AUTO */
	enum log_level log_level;
	bool no_line; /* no status line, even on a terminal */
};

#endif
