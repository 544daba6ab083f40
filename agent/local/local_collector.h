/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Starts the saluki-collector of `saluki capture`, for one sensor. Both speak the protocol of
 * docs/wire.md over a pair of AF_UNIX sockets of type SOCK_SEQPACKET (unix(7)). The command
 * therefore does not capture its own datagrams, and each side notices when the other side ends.
 * SOCK_DGRAM would not report this: the kernel signals the end only for connected types.
 */
#ifndef AGENT_LOCAL_LOCAL_COLLECTOR_H
#define AGENT_LOCAL_LOCAL_COLLECTOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "local_keys.h"

/* The collector's options, which the collector checks; NULL: not given. */
struct local_collector_options {
	const char *write;	 /* -w */
	const char *size, *time; /* -C -G */
	const char *files;	 /* -W */
	const char *user;	 /* --user */
	bool quiet;		 /* -q */
	int output;		 /* its standard output; -1: ours */
	int report;		 /* --report; 0: not given */
};

struct local_collector {
	int sock;  /* the sensor's end */
	int far;   /* the collector's end, until the collector has started; then -1 */
	pid_t pid; /* 0: not started */
};

/* Returns 0 if saluki-collector is installed, or -ENOENT after a line. */
int local_collector_check(void);
/* Makes the sockets. Returns 0, or -errno after a line. */
int local_collector_connect(struct local_collector *c);
/* Starts the collector in a new session, so that a terminal's signals reach only the sensor. The
 * collector ends after the sensor. Returns 0, or -errno after a line. */
int local_collector_start(struct local_collector *c, const struct local_keys *k,
			  const struct local_collector_options *o);
/* Waits for the collector's end. All processes must have closed `sock`. If the collector does not
 * end within some seconds, or a signal comes, stops it; the last resort is SIGKILL. Returns the
 * exit status, or 0 if the collector was not started. */
int local_collector_wait(const struct local_collector *c);

#endif
