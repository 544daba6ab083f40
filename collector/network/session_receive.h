/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Session receive: datagrams become authentic messages of listed sensors (messages.h), or a
 * counter. One look into the table says whose an address is; who is not in it costs no more than
 * that. What goes back to sensors is session_send.h's. Mirror of agent/export/session.h and the
 * sealing half of agent/export/export.h.
 */
#ifndef COLLECTOR_NETWORK_SESSION_RECEIVE_H
#define COLLECTOR_NETWORK_SESSION_RECEIVE_H

#include "collector/combo/combos.h"
#include "collector/model/sensors.h"
#include "handshake.h"
#include "handshake_requests.h"
#include "refusals.h"

#define SESSION_RECEIVE_ACK_EVERY 16	   /* datagrams */
#define SESSION_RECEIVE_ACK_NS 20000000ULL /* after the first that is not acknowledged, at most */
#define SESSION_RECEIVE_OLD_NS 10000000000ULL /* an old session is opened for so long */
#define SESSION_RECEIVE_CHALLENGE_NS 250000000ULL

/* name, what it counts */
#define SESSION_RECEIVE_COUNTERS(X)                                                                \
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

struct session_receive_counters {
#define X(name, help) uint64_t name;
	SESSION_RECEIVE_COUNTERS(X)
#undef X
};

struct session_receive {
	int sock;
	struct table table;
	struct handshake handshake;
	struct handshake_requests requests;
	struct refusals refused;
	struct sensors *sensors;
	struct combos *combos;		     /* where messages go */
	struct sensor *old_first, *old_last; /* with an old session that will end */
	uint64_t received_ns;		     /* protocol time when the present batch was read */
	struct session_receive_counters counters;
	/* ANSWER, the answer to an order (commands.c); NULL: nobody wants it. */
	void (*answered)(void *user, struct sensor *s, uint64_t number, uint8_t status,
			 const uint8_t *text, size_t len);
	void *answered_user;
	/* A session has begun by set-up (groups.c); NULL: nobody wants to know. */
	void (*begun)(void *user, struct sensor *s);
	void *begun_user;
};

/* The pointers above and handshake.own are set, the rest is zeroed. `floor_ns`: handshake_init. */
void session_receive_init(struct session_receive *o, uint64_t floor_ns);
/* The list is now what the file says: who left has no session from now on. Returns 0 or -ENOMEM
 * after a line. */
int session_receive_sensors(struct session_receive *o, const struct sensors_file *f);
void session_receive_free(struct session_receive *o);

/* Brings what a datagram will need into the cache. */
static inline void session_receive_prefetch(const struct session_receive *o, const uint8_t *in,
					    size_t len)
{
	if (len >= SHROUD_ADDRESS_LEN)
		table_prefetch(&o->table, load_word(in));
}

/* Datagrams have been read, and follow. */
void session_receive_batch(struct session_receive *o);
/* Takes one datagram of `len` bytes from `from`. */
void session_receive_datagram(struct session_receive *o, const uint8_t *in, size_t len,
			      const struct sockaddr_storage *from, socklen_t from_len,
			      uint64_t now_ns);
/* Sends ACKs that are due, ends old sessions, turns slots. Returns milliseconds until it is to
 * be called again. */
int session_receive_tick(struct session_receive *o, uint64_t now_ns);
/* The end is near: what one-way sensors were waited for is not waited for any more. All combos are
 * taken that need not wait for the disk. */
void session_receive_overdue(struct session_receive *o, uint64_t now_ns);
/* The end: what is settled by now is acknowledged. */
void session_receive_finish(struct session_receive *o);

#endif
