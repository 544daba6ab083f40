/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Heartbeat: the receiving process's sign of life, once a second, while a service manager wants to
 * know. In: the sensors, the output. Out: a message to the privileged process, and from there a
 * notification (common/notify.h). The privileged process does not trust the numbers: it only prints
 * them.
 */
#ifndef COLLECTOR_HEARTBEAT_H
#define COLLECTOR_HEARTBEAT_H

#include "collector/board/presence.h"
#include "collector/output/output.h"
#include "common/notify.h"

struct heartbeat {
	int sock; /* to the privileged process; -1: nobody wants to know */
	uint64_t next_ns;
	bool reloaded; /* and it was not said yet */
};

/* The receiving process: sends when due. Returns milliseconds until the next time; -1: never. */
int heartbeat_tick(struct heartbeat *h, const struct presence *p, const struct output *out,
		   uint64_t now_ns);
/* The next tick sends, and says so. */
void heartbeat_reloaded(struct heartbeat *h);

/* The privileged process: passes a message of `sock` on. Returns 0, or -errno if no more come. */
int heartbeat_take(int sock, struct notify *n);

#endif
