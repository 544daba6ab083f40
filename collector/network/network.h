/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Network: what this room has for all sensors together. A datagram's way through it:
 *
 *     receive.c                 datagrams of the socket, a batch at a time
 *     session_receive.c         whose address it is; opened, it is a message
 *       handshake_admit.c         it asks for a session
 *     messages.c                what the message leads to
 *     combo/intake.h            pieces of combos
 *
 * Beside them: session_send.c sends what goes back. Each of these stages includes this file, which
 * includes none of them.
 */
#ifndef COLLECTOR_NETWORK_NETWORK_H
#define COLLECTOR_NETWORK_NETWORK_H

#include "collector/combo/combos.h"
#include "collector/model/sensors.h"
#include "handshake.h"
#include "handshake_requests.h"
#include "refusals.h"
#include "wrong_key.h"

#define SESSION_RECEIVE_ACK_EVERY 16	   /* datagrams */
#define SESSION_RECEIVE_ACK_NS 20000000ULL /* after the first that is not acknowledged, at most */
#define SESSION_RECEIVE_OLD_NS 10000000000ULL /* an old session is opened for so long */
#define SESSION_RECEIVE_CHALLENGE_NS 250000000ULL

/* name, what it counts */
#define NETWORK_COUNTERS(X)                                                                        \
	X(datagrams, "datagrams received")                                                         \
	X(bytes, "bytes of UDP payload received")                                                  \
	X(not_ours, "datagrams under addresses that nobody has, or that are spent")                \
	X(not_authentic, "datagrams under a known address that do not open")                       \
	X(set_ups, "set-ups answered")                                                             \
	X(limited_set_ups, "set-ups beyond HANDSHAKE_INITS_A_SECOND")                              \
	X(ignored_set_ups, "set-ups that were overtaken")                                          \
	X(busy_set_ups, "set-ups refused: another instance of the sensor is heard")                \
	X(questions, "requests for the time and a cookie that were answered")                      \
	X(limited_questions, "requests beyond the limits of handshake_requests.h")                 \
	X(repeated_requests, "requests that were seen before")                                     \
	X(refused_requests, "requests of keys that are not listed, or not proved, or too old")     \
	X(other_versions, "set-ups and requests of another version of the protocol")               \
	X(limited_messages, "messages of sensors beyond the limits of message_limit.h")            \
	X(alternations, "sessions between which two processes with one key go to and fro")         \
	X(announcements, "set-ups of one-way sessions, and their repetitions")                     \
	X(sessions, "sessions begun by set-up")                                                    \
	X(renewals, "sessions begun by renewal")                                                   \
	X(moves, "sessions that moved to another address")                                         \
	X(sent, "datagrams sent")

struct network_counters {
#define X(name, help) uint64_t name;
	NETWORK_COUNTERS(X)
#undef X
};

struct network {
	int sock;
	struct table table;
	struct handshake handshake;
	struct handshake_requests requests;
	struct refusals refused;
	struct wrong_key wrong_key;
	struct sensors *sensors;
	struct combos *combos;		     /* where messages go */
	struct sensor *old_first, *old_last; /* with an old session that will end */
	uint64_t received_ns;		     /* protocol time when the present batch was read */
	struct network_counters counters;
	/* ANSWER, the answer to an order (commands.c); NULL: nobody wants it. */
	void (*answered)(void *user, struct sensor *s, uint64_t number, uint8_t status,
			 const uint8_t *text, size_t len);
	void *answered_user;
	/* A session has begun by set-up (groups.c); NULL: nobody wants to know. */
	void (*begun)(void *user, struct sensor *s);
	void *begun_user;
};

#endif
