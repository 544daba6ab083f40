/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages: what authentic messages of sensors lead to. In: messages (session_receive.h). Out:
 * pieces and FLOORs, to combo/split.h; totals, to the ledger; what the sensor says of itself;
 * answers.
 */
#ifndef COLLECTOR_NETWORK_MESSAGES_H
#define COLLECTOR_NETWORK_MESSAGES_H

#include "network.h"

/* Takes one message that came in a session of the present run. Returns whether it is kept, so that
 * it is acknowledged. */
bool messages_take(struct network *o, struct sensor *s, const uint8_t *message, size_t len,
		   uint64_t now_ns);
/* The same of a session whose run waits: only what the sensor says of itself is kept. */
bool messages_take_early(struct sensor *s, const uint8_t *message, size_t len);

#endif
