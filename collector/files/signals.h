/* SPDX-License-Identifier: GPL-2.0 */
/* Signals: orders of the privileged process, which the other one reads wherever it waits. */
#ifndef COLLECTOR_FILES_SIGNALS_H
#define COLLECTOR_FILES_SIGNALS_H

#include <poll.h>
#include <stdbool.h>

#include "common/privsep.h"

struct signals {
	int sock;
	bool stop;
	bool report; /* the main loop prints the report later */
	bool reload; /* the main loop reads the sensors file again */
};

/* Reads all orders that have arrived, without waiting. */
static inline void signals_take(struct signals *o)
{
	struct pollfd p = { .fd = o->sock, .events = POLLIN };

	while (!o->stop && poll(&p, 1, 0) > 0) {
		uint8_t order = SIGNAL_STOP; /* also if the other process has ended */

		privsep_recv(o->sock, &order, sizeof(order), NULL);
		o->stop = order == SIGNAL_STOP;
		o->report |= order == SIGNAL_REPORT;
		o->reload |= order == SIGNAL_RELOAD;
	}
}

#endif
