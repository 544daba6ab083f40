/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages: dispatches sensors' authentic messages. In: messages (session_receive.h). Out: pieces
 * and FLOORs, to combo/intake.h; totals, to the ledger; the sensor's info; answers.
 */
#ifndef COLLECTOR_NETWORK_MESSAGES_H
#define COLLECTOR_NETWORK_MESSAGES_H

#include "network.h"

/* Takes a message of the current run's session. Returns whether it was kept, and so may be
 * acknowledged. */
bool messages_take(struct network *o, struct sensor *s, const uint8_t *message, size_t len,
		   uint64_t now_ns);
/* The same for a session whose run waits: keeps only the sensor's info. */
bool messages_take_early(struct sensor *s, const uint8_t *message, size_t len);

#endif
