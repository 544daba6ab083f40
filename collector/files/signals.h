/* SPDX-License-Identifier: GPL-2.0 */
/* Orders of the privileged process, taken wherever the other one waits. */
#ifndef COLLECTOR_FILES_SIGNALS_H
#define COLLECTOR_FILES_SIGNALS_H

#include <poll.h>
#include <stdbool.h>

#include "common/privsep.h"

struct signals {
	int sock;
	bool stop;
	bool report; /* the main loop prints it when it has time */
	bool reload; /* the main loop reads the sensors file again */
};

/* Takes what has come, without waiting. */
static inline void signals_take(struct signals *o)
{
	struct pollfd p = { .fd = o->sock, .events = POLLIN };

	while (!o->stop && poll(&p, 1, 0) > 0) {
		uint8_t order = SIGNAL_STOP; /* also when the other process is gone */

		privsep_recv(o->sock, &order, sizeof(order), NULL);
		o->stop = order == SIGNAL_STOP;
		o->report |= order == SIGNAL_REPORT;
		o->reload |= order == SIGNAL_RELOAD;
	}
}

#endif
