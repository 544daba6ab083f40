/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The collector of `saluki capture`: a saluki-collector of its own, for one sensor. They speak the
 * protocol of docs/wire.md over a pair of sockets, AF_UNIX and SOCK_SEQPACKET (unix(7)). So the
 * capture sees no datagrams of its own, and each sees the other's end. A pair of SOCK_DGRAM would
 * not tell the end: the kernel passes it on for connected types only.
 */
#ifndef AGENT_LOCAL_LOCAL_COLLECTOR_H
#define AGENT_LOCAL_LOCAL_COLLECTOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "local_keys.h"

/* The collector's options, which it checks; NULL: not given. */
struct local_collector_options {
	const char *write;	 /* -w */
	const char *size, *time; /* -C -G */
	const char *files;	 /* -W */
	const char *user;	 /* --user */
	bool quiet;		 /* -q */
	int output;		 /* its standard output; -1: ours */
};

struct local_collector {
	int sock;  /* the sensor's end */
	int far;   /* the collector's, until it has started; then -1 */
	pid_t pid; /* 0: not started */
};

/* Returns 0 if saluki-collector is installed, or -ENOENT after a line. */
int local_collector_check(void);
/* Makes the sockets. Returns 0, or -errno after a line. */
int local_collector_connect(struct local_collector *c);
/* Starts it, in a session of its own: a terminal's signals reach only the sensor, whose end ends
 * it. Returns 0, or -errno after a line. */
int local_collector_start(struct local_collector *c, const struct local_keys *k,
			  const struct local_collector_options *o);
/* Waits for its end, after `sock` was closed by all. Stops it after some seconds without an end, or
 * when a signal comes; the last resort is SIGKILL. Returns its exit status; 0 if it was not
 * started. */
int local_collector_wait(const struct local_collector *c);

#endif
