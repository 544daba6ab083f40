/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Network: the room's state for all sensors. The path of a datagram:
 *
 *     receive.c                 reads the socket, in batches
 *     session_receive.c         finds the address's owner, opens the datagram
 *       handshake_admit.c         takes requests for sessions
 *       sensor_sessions.c         changes the sensor's current session
 *     messages.c                handles the message
 *     combo/intake.h            takes pieces of combos
 *
 * session_send.c sends to sensors. timers.c does what is due at a time. sensor_list.c applies the
 * sensors file. Each of these stages includes this file, which includes none of them.
 */
#ifndef COLLECTOR_NETWORK_NETWORK_H
#define COLLECTOR_NETWORK_NETWORK_H

#include "collector/combo/combos.h"
#include "collector/model/sensors.h"
#include "handshake.h"
#include "handshake_requests.h"
#include "refusals.h"
#include "board/board.h"
#include "wrong_key.h"

struct network {
	int sock;
	struct table table;
	struct handshake handshake;
	struct handshake_requests requests;
	struct refusals refused;
	struct log_limit connected; /* connections.h */
	struct wrong_key wrong_key;
	struct sensors *sensors;
	struct combos *combos;		     /* destination of messages */
	struct sensor *old_first, *old_last; /* sensors with an old session */
	uint64_t received_ns;		     /* protocol time of reading the current batch */
	struct network_counters counters;
	/* Called for ANSWER, the answer to an order (commands.c). May be NULL. */
	void (*answered)(void *user, struct sensor *s, uint64_t number, uint8_t status,
			 const uint8_t *text, size_t len);
	void *answered_user;
	/* Called after a session started by set-up (collector.c). May be NULL. */
	void (*begun)(void *user, struct sensor *s);
	void *begun_user;
};

#endif
