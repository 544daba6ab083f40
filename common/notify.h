/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Notify: tells the service manager how a service does, as sd_notify(3) does. In: the environment's
 * NOTIFY_SOCKET. Out: datagrams. Without NOTIFY_SOCKET, all functions do nothing. The service
 * manager listens to the main process only, so the privileged process calls these.
 */
#ifndef COMMON_NOTIFY_H
#define COMMON_NOTIFY_H

#include <stdbool.h>

#define NOTIFY_INTERVAL_NS 1000000000ULL /* between signs of life */

struct notify {
	int sock;   /* -1: no service manager */
	bool ready; /* it was told so */
};

#define NOTIFY_NONE                                                                                \
	{                                                                                          \
		.sock = -1                                                                         \
	}

/* Whether a service manager wants to be told. */
bool notify_is_wanted(void);
/* Connects to the service manager; before the sandbox. Failures are logged. */
void notify_open(struct notify *n);
/* The work goes on, with `status` in one line. The first call says that the service is ready. */
void notify_alive(struct notify *n, const char *status);
/* The settings are read again, until notify_reloaded(). */
void notify_reloading(struct notify *n);
void notify_reloaded(struct notify *n);
/* The service was told to end. */
void notify_stopping(struct notify *n);
void notify_close(struct notify *n);

#endif
