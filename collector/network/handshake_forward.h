/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake forward: a set-up says that its session forwards a spool (combo/forward.h). Its info
 * begins with the spool's key, sealed for this collector (wire/spool.h).
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_FORWARD_H
#define COLLECTOR_NETWORK_HANDSHAKE_FORWARD_H

#include "session.h"
#include "wire/keys.h"
#include "wire/tryst.h"

struct run_terms;

/* What a set-up is to forward: its id, or 0 where that is nothing or its key does not open. */
uint64_t handshake_forward_agree(const struct keypair *own, const uint8_t pair[KEY_LEN],
				 const struct tryst_hello *hello);
/* What the set-up of a session says of its run. Takes `info` from the session. */
void handshake_forward_terms(struct run_terms *t, const struct keypair *own,
			     const uint8_t pair[KEY_LEN], struct session *session);

#endif
