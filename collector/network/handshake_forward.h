/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake forward: reads the set-up of a session that forwards a spool (combo/forward.h). Its
 * info starts with the spool's key, sealed for this collector (wire/spool.h).
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_FORWARD_H
#define COLLECTOR_NETWORK_HANDSHAKE_FORWARD_H

#include "handshake_slots.h"
#include "session.h"

struct run_terms;

/* Returns the id of the spool that a set-up announces, or 0 if there is none or its key does not
 * open. */
uint64_t handshake_forward_agree(const struct handshake *m, const struct sensor *s,
				 const struct tryst_hello *hello);
/* Reads a session's run, spool and info into `t`. Moves `info` out of the session. */
void handshake_forward_terms(struct run_terms *t, const struct handshake *m, const struct sensor *s,
			     struct session *session);

#endif
