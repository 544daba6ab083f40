/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages: handles sensors' authentic messages. In: messages (session_receive.h). Out: the
 * session's state, and answers (session_send.h); pieces and FLOORs, to combo/intake.h; totals, to
 * the ledger; the sensor's info; answers to orders. Always holds: a sensor's messages beyond
 * message_limit.h have no effect.
 */
#ifndef COLLECTOR_NETWORK_MESSAGES_H
#define COLLECTOR_NETWORK_MESSAGES_H

#include "network.h"
#include "session.h"

/* Takes a message of the session, which belongs to the sensor's current or waiting run. Returns
 * whether it was kept, and so may be acknowledged. */
bool messages_take(struct network *o, struct sensor *s, struct session *session,
		   const uint8_t *message, size_t len, uint64_t now_ns);

#endif
