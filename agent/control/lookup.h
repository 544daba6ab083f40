/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lookup: decides when to resolve the collectors' names (agent/control/resolve.h). A name without
 * an address is tried again at growing intervals. Without a session, all names are resolved again,
 * as a collector may have moved.
 */
#ifndef AGENT_CONTROL_LOOKUP_H
#define AGENT_CONTROL_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/export/session.h"

#define LOOKUP_FIRST_NS 1000000000ULL /* after a failure; doubled each time, up to */
#define LOOKUP_MOST_NS 30000000000ULL /* this, which is also the interval without a session */

struct lookup {
	int sock; /* to the resolver; -1: not needed */
	struct {
		bool is_name;	    /* collector `i` has a name */
		bool asked;	    /* waiting for the answer */
		bool told;	    /* failure or new address was logged */
		unsigned int tries; /* without an address */
		uint64_t next_ns;   /* CLOCK_MONOTONIC */
	} names[SOCKETS_PEERS];
};

/* Starts a resolver if one of `to` is a name. Call it as resolve_start(). Returns 0 or -errno after
 * a line. */
int lookup_start(struct lookup *l, const struct sockets_name *to, unsigned int count);
/* Sends due requests. */
void lookup_tick(struct lookup *l, const struct session *s, uint64_t now_ns);
/* Reads answers, when its socket is readable. */
void lookup_answered(struct lookup *l, struct session *s, uint64_t now_ns);
void lookup_stop(struct lookup *l);

#endif
