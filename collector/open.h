/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Open: datagrams become authentic messages of listed sensors (take.h), or a counter. One look into
 * the table says whose an address is; who is not in it costs no more than that. What goes back to
 * sensors is reply.h's. Mirror of agent/export/session.h and the sealing half of
 * agent/export/export.h.
 */
#ifndef COLLECTOR_OPEN_H
#define COLLECTOR_OPEN_H

#include "decompress.h"
#include "event.h"
#include "meet.h"
#include "output.h"
#include "refuse.h"
#include "refused.h"
#include "requests.h"
#include "sensors.h"
#include "serve.h"
#include "wire/spool.h"

#define OPEN_ACK_EVERY 16	   /* datagrams */
#define OPEN_ACK_NS 20000000ULL	   /* after the first that is not acknowledged, at most */
#define OPEN_OLD_NS 10000000000ULL /* an old session is opened for so long */
#define OPEN_CHALLENGE_NS 250000000ULL

/* name, what it counts */
#define OPEN_COUNTERS(X)                                                                           \
	X(datagrams, "datagrams received")                                                         \
	X(bytes, "bytes of UDP payload received")                                                  \
	X(not_ours, "datagrams under addresses that nobody has, or that are spent")                \
	X(not_authentic, "datagrams under a known address that do not open")                       \
	X(set_ups, "set-ups answered")                                                             \
	X(limited_set_ups, "set-ups beyond MEET_INITS_A_SECOND")                                   \
	X(ignored_set_ups, "set-ups that were overtaken")                                          \
	X(busy_set_ups, "set-ups refused: another instance of the sensor is heard")                \
	X(questions, "requests for the time and a cookie that were answered")                      \
	X(limited_questions, "requests beyond the limits of requests.h")                           \
	X(repeated_requests, "requests that were seen before")                                     \
	X(refused_requests, "requests of keys that are not listed, or not proved, or too old")     \
	X(other_versions, "set-ups and requests of another version of the protocol")               \
	X(limited_messages, "messages of sensors beyond the limits of ration.h")                   \
	X(alternations, "sessions between which two processes with one key go to and fro")         \
	X(announcements, "set-ups of one-way sessions, and their repetitions")                     \
	X(sessions, "sessions begun by set-up")                                                    \
	X(renewals, "sessions begun by renewal")                                                   \
	X(moves, "sessions that moved to another address")                                         \
	X(sent, "datagrams sent")

struct open_counters {
#define X(name, help) uint64_t name;
	OPEN_COUNTERS(X)
#undef X
};

struct open {
	int sock;
	struct table table;
	struct meet meet;
	struct requests requests;
	struct refused refused;
	struct sensors *sensors;
	struct decompress *decompress;
	struct output *output;
	struct pool pool;		       /* of all sensors' pieces */
	struct serve serve;		       /* whose combo is taken next */
	struct event events[COMBO_EVENTS_MAX]; /* of the combo that is being taken */
	struct refuse refuse;		       /* of the same */
	uint8_t combo[SPOOL_RECORD_MAX];       /* that was opened out of a record */
	uint64_t received_ns;		       /* protocol time when the present batch was read */
	struct open_counters counters;
	/* ANSWER, the answer to an order (dispatch.c); NULL: nobody wants it. */
	void (*answered)(void *user, struct sensor *s, uint64_t number, uint8_t status,
			 const uint8_t *text, size_t len);
	void *answered_user;
	/* A session has begun by set-up (groups.c); NULL: nobody wants to know. */
	void (*begun)(void *user, struct sensor *s);
	void *begun_user;
	/* A frame or an event of a combo, in their order; e is NULL, or f is (refocus.c). NULL:
	 * there are no rules. */
	void (*framed)(void *user, struct sensor *s, const struct combo_frame *f,
		       const struct combo_event *e, uint64_t now_ns);
	void *framed_user;
};

/* The pointers above and meet.own are set, the rest is zeroed. `floor_ns`: meet_init. */
void open_init(struct open *o, uint64_t floor_ns);
/* The list is now what the file says: who left has no session from now on. Returns 0 or -ENOMEM
 * after a line. */
int open_sensors(struct open *o, const struct sensors_file *f);
void open_free(struct open *o);

/* Brings what a datagram will need into the cache. */
static inline void open_prefetch(const struct open *o, const uint8_t *in, size_t len)
{
	if (len >= SHROUD_ADDRESS_LEN)
		table_prefetch(&o->table, load_word(in));
}

/* Datagrams have been read, and follow. */
void open_batch(struct open *o);
/* Takes one datagram of `len` bytes from `from`. */
void open_datagram(struct open *o, const uint8_t *in, size_t len,
		   const struct sockaddr_storage *from, socklen_t from_len, uint64_t now_ns);
/* Sends ACKs that are due, ends old sessions, turns slots. Returns milliseconds until it is to
 * be called again. */
int open_tick(struct open *o, uint64_t now_ns);
/* The end is near: what one-way sensors were waited for is not waited for any more. All combos are
 * taken that need not wait for the disk. */
void open_overdue(struct open *o, uint64_t now_ns);
/* The end: what is settled by now is acknowledged. */
void open_finish(struct open *o);

#endif
