/* SPDX-License-Identifier: GPL-2.0 */
/* Signals: read from a descriptor, in the loop of a command. */
#ifndef KAFKA_CLIENT_SIGNALS_H
#define KAFKA_CLIENT_SIGNALS_H

#include <stdbool.h>

struct signals {
	int fd;
	bool stop;   /* SIGINT or SIGTERM has come */
	bool report; /* SIGUSR1: the caller clears it */
};

/* Before threads start. Returns 0, or -errno after a line. */
int signals_open(struct signals *s);
/* Reads what has come; never waits. Returns `stop`. */
bool signals_read(struct signals *s);
void signals_close(struct signals *s);

#endif
