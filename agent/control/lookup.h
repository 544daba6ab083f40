/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lookup: when the collectors' names are looked up (agent/control/resolve.h), and what follows. A
 * name without an address is asked for again, each time later, until there is one. While there is
 * no session, names are looked up again: a collector may have moved.
 */
#ifndef AGENT_CONTROL_LOOKUP_H
#define AGENT_CONTROL_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/export/session.h"

#define LOOKUP_FIRST_NS 1000000000ULL /* after a failure; then twice that, and so on, up to */
#define LOOKUP_MOST_NS 30000000000ULL /* this; it is also the interval without a session */

struct lookup {
	int sock; /* to the resolver; -1: none is needed */
	struct {
		bool is_name;	    /* of collector `i` */
		bool asked;	    /* the answer has not come yet */
		bool told;	    /* that there is none, or that it has moved */
		unsigned int tries; /* without an address */
		uint64_t next_ns;   /* CLOCK_MONOTONIC */
	} names[SOCKETS_PEERS];
};

/* Starts a resolver where one of `to` is a name. Called as resolve_start(). Returns 0 or -errno
 * after a line. */
int lookup_start(struct lookup *l, const struct sockets_name *to, unsigned int count);
/* Asks for what is due. */
void lookup_tick(struct lookup *l, const struct session *s, uint64_t now_ns);
/* Its socket is readable: takes the answers that have come. */
void lookup_answered(struct lookup *l, struct session *s, uint64_t now_ns);
void lookup_stop(struct lookup *l);

#endif
