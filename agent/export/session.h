/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The session with the collector (docs/wire.md): set up, kept alive and renewed by the control
 * thread, which opens all that the collector says; used by the export thread, which seals and sends
 * all that goes there. They meet in a mailbox, guarded by one lock.
 *
 *     session.c          renewal, silence, by the time         control thread
 *     handshake.c        who is asked for a session, and when  control thread
 *     session_receive.c  what the collector says               control thread
 *     failure_reason.c   why there is no session               control thread
 *     mailbox.c          what both threads touch               both
 *     one_way.c          in place of the first three, where nothing comes back
 *     sockets.c          addresses and sockets
 */
#ifndef AGENT_SESSION_H
#define AGENT_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "sockets.h"
#include "wire/handshake_pace.h"
#include "wire/info.h"
#include "wire/keys.h"
#include "wire/message.h"
#include "wire/request.h"
#include "wire/shroud.h"
#include "wire/spool.h"
#include "wire/table.h"
#include "wire/tryst.h"

#define SESSION_SILENCE_NS 3000000000ULL
#define SESSION_RENEW_NS 120000000000ULL
#define SESSION_OLD_NS 10000000000ULL	 /* what was under way in an old session is still taken */
#define SESSION_BETTER_NS 30000000000ULL /* how often a collector of higher priority is tried */
#define SESSION_FAILURE_REASON_MAX 400
#define SESSION_ACKS 32		/* that wait for the export thread; the oldest gives way */
#define SESSION_OUTBOX 6	/* kinds of messages in it */
#define SESSION_INFO_REPEATS 10 /* a change is told so often, a second apart */
#define SESSION_YEAR_2020_NS 1577836800000000000ULL /* a clock that is set is beyond it */
#define SESSION_WINDOW 1024 /* addresses that the collector shall know ahead */

/* What the export thread sends with. It has a copy of its own, so that it alone counts. */
struct session_path {
	unsigned int generation; /* rises with each session; 0: none yet */
	int sock;		 /* UDP, connected, non-blocking; not owned */
	struct shroud_tx tx;
	uint32_t window;
	uint16_t sensor_id;
	bool padded;	/* every datagram has SHROUD_DATAGRAM_PADDED bytes */
	bool one_way;	/* nobody acknowledges */
	uint32_t spool; /* what it forwards: the group's number from 1; 0: the present run */
};

/* What an earlier process has left in the spool, for a session of its own (spool.h). */
struct session_spool {
	uint64_t run;
	uint8_t hello[SOCKETS_PEERS][SPOOL_HELLO_LEN];
	bool is_for[SOCKETS_PEERS]; /* that collector can open it */
	struct info_lasting info;   /* of its first record */
	bool done;		    /* atomic */
};

/* Why a collector gives no session, as far as we know. Each tells more than those before it. */
enum session_sign {
	SESSION_NOT_ASKED,
	SESSION_NOTHING,
	SESSION_NO_ROUTE,
	SESSION_PATH_MTU,	  /* our own interface takes no datagrams of that length */
	SESSION_PORT_CLOSED,	  /* ICMP says so; anybody can */
	SESSION_REQUEST_ANSWERED, /* but no m1 */
	SESSION_KEY_IN_USE,	  /* by another instance of this sensor */
	SESSION_OTHER_VERSION,
};

/* Where a collector is, and what is shared with it. */
struct session_peer {
	struct sockets_address address;
	int no_route;		/* -errno of SESSION_NO_ROUTE */
	enum session_sign sign; /* of the last attempt that heard anything */
	unsigned int told;	/* those that were said since it answered, a bit each */
	uint8_t public[KEY_LEN], pair[KEY_LEN];
	struct {
		uint64_t interval;
		uint32_t used; /* bit j: slot j of it has gone out */
	} slots[3];	       /* interval n's is n % 3 */
	bool clock_set;	       /* by the collector: its time is CLOCK_MONOTONIC + clock_base_ns */
	uint64_t clock_base_ns;
};

/* A set-up that waits for its answer, and a request for a cookie. */
struct session_asked {
	unsigned int peer;
	uint32_t spool;
	int sock;		/* -1: none */
	enum session_sign sign; /* what this attempt has heard */
	bool waits;		/* `tryst` is that of an m1 that has gone out */
	struct tryst_asked tryst;
	uint64_t request_ns;		  /* when the next request goes out; 0: none will */
	unsigned int requested;		  /* requests that have gone out and wait */
	bool told;			  /* one was answered */
	struct request_asked requests[2]; /* theirs: one with a date, then one without */
};

/* A session's receiving half. The present one, and those before it for SESSION_OLD_NS. */
struct session_link {
	unsigned int generation; /* 0: free */
	unsigned int peer;
	int sock;
	struct shroud_rx rx;
	uint8_t chain[KEY_LEN];
	uint64_t since_ns;
	uint64_t ends_ns; /* 0: the present one */
	uint64_t heard;	  /* datagrams */
};

struct session_message {
	size_t len; /* 0: none waits */
	unsigned int generation;
	uint8_t bytes[MESSAGE_MAX];
};

struct session_ack {
	unsigned int generation;
	struct ack ack;
};

/* A session that nobody answers (one_way.h): it is announced until it begins, and behind that. */
struct session_one_way {
	bool on;
	uint64_t slot;		    /* the last one that was used, of all since 1970; 0: none */
	uint64_t time_ns;	    /* that the last m1 had */
	uint8_t ephemeral[KEY_LEN]; /* E_s of the present session */
	bool pending;		    /* there is another one, that has not begun: */
	uint8_t pending_ephemeral[KEY_LEN], k2[KEY_LEN];
	unsigned int announced; /* so often */
	uint64_t begin_ns;	/* 0: it has to be announced more often before */
	/* shared, guarded by the session's lock */
	uint64_t next, limit; /* numbers: of the next datagram, and what it must be below */
};

#define SESSION_LINKS (SOCKETS_MAX - 1)

struct session {
	const char *peer;	       /* HOST:PORT of the present collector, for messages */
	uint64_t run;		       /* random number of this run */
	int changed_fd;		       /* eventfd: up, down, an ACK, or something in the outbox */
	const __u64 *exported;	       /* frames in front of those that are kept; read atomically */
	uint64_t (*realtime_ns)(void); /* the sensor's clock; tests have one of their own */
	uint64_t renew_ns;	       /* a session's age at which it is renewed */
	uint32_t window;	       /* asked for */
	bool pad;		       /* every datagram of ours has SHROUD_DATAGRAM_PADDED bytes */
	struct keypair own;
	uint8_t instance[TRYST_INSTANCE_LEN];	  /* instance.h */
	struct session_peer peers[SOCKETS_PEERS]; /* by priority */
	unsigned int peer_count;
	struct session_spool *spools;
	unsigned int spool_count;

	/* control thread */
	struct info info; /* what the sensor says of itself; `exported` and `change` are set here */
	/* An ORDER came: `text` is not terminated. NULL: they are counted as bad. The answer is
	 * given by session_answer(). */
	void (*order)(void *arg, uint64_t number, const char *text, size_t len);
	void *order_arg;
	struct sockets reach;
	struct table table;
	struct session_link links[SESSION_LINKS];
	struct session_link *present; /* NULL: none is up */
	struct session_asked asked;
	unsigned int trying;	 /* the peer that set-ups go to */
	unsigned int unanswered; /* set-ups to it behind which nothing was heard in a session */
	unsigned int heard_peer; /* that was heard last */
	unsigned int failed;	 /* peers that were given up since one has answered */
	unsigned int attempts;	 /* set-ups since one was answered */
	unsigned int better;	 /* set-ups to those of higher priority */
	uint64_t next_init_ns, next_better_ns;
	struct keypair renewal; /* ephemeral of the RENEW that is repeated */
	bool renewing;
	uint64_t next_renew_ns, next_probe_ns, next_info_ns;
	struct session_one_way one_way;
	unsigned int probes, info_due;
	uint64_t told_ns;	/* when the measured round trip was told */
	uint64_t bad_datagrams; /* nothing that was waited for */

	/* shared */
	pthread_mutex_t lock; /* guards what follows up to the empty line */
	bool up;
	struct session_path path;
	struct session_ack acks[SESSION_ACKS];
	unsigned int acks_first, acks_count;
	bool clock_set; /* of the present peer, as above */
	uint64_t clock_base_ns;
	uint64_t round_trip_ns; /* the shortest of late; 0: not known */
	int64_t offset_ns;	/* the collector's clock over this one's, measured with it */
	uint64_t measured_ns;	/* when; CLOCK_MONOTONIC */

	uint64_t first_send_ns; /* oldest datagram not followed by one of theirs, 0: none; atomic */

	/* guarded by the lock, too; no keys */
	struct session_message outbox[SESSION_OUTBOX];
	struct info_lasting *lasting; /* of `info`: the spool's, NULL without one */
};

/* ---- start and end --------------------------------------------------------------------------- */

/* Before the sandbox: opens sockets. `to` has HOST:PORT of `count` collectors by priority, whose
 * names are looked up later (lookup.h); `peers` has one key for all, or one for each. Everything is
 * copied. What is not a default (renew_ns, window, pad, order, realtime_ns) is set behind it.
 * Returns 0, or -errno after a line. */
int session_init(struct session *s, const struct sockets_name *to, unsigned int count,
		 const struct keypair *own, const struct keys_peers *peers);
/* Why that collector gives no session. */
void session_failure_reason(const struct session *s, unsigned int peer,
			    char text[SESSION_FAILURE_REASON_MAX]);
/* Says of each collector why it gave no session. */
void session_tell_failed(const struct session *s);
/* There is no route to that collector at present: says so. `err` is -errno. */
void session_no_route(struct session *s, unsigned int peer, int err);
/* Wipes all keys. Takes what session_init failed with. */
void session_free(struct session *s);

/* ---- control thread -------------------------------------------------------------------------- */

struct pollfd;
#define SESSION_POLL_MAX (2 * SOCKETS_MAX)
/* What to wait for: fills in SESSION_POLL_MAX entries at most, returns how many. */
unsigned int session_poll(const struct session *s, struct pollfd *p);
/* Takes what came. */
void session_receive(struct session *s, uint64_t now_ns);
/* Does what is due: set-up, renewal, probes. Returns milliseconds until it wants to be called
 * again. */
int session_tick(struct session *s, uint64_t now_ns);
/* `info` is set: what lasts of it is for the export thread from now on, if it has a spool. */
void session_info_set(struct session *s);
/* Someone else may hold the present session's keys: sets another one up at once, and sends nothing
 * more in this one; a one-way session is succeeded as soon as its successor was announced. */
void session_new_keys(struct session *s, uint64_t now_ns);
/* `info` was changed while a session may live. */
void session_info_changed(struct session *s);
/* The ANSWER to order `number`; `text` is cut where it is too long for one datagram. */
void session_answer(struct session *s, uint64_t number, uint8_t status, const char *text);

/* ---- export thread --------------------------------------------------------------------------- */

/* Takes the present session's path where it is another one than in `p`. Returns whether there is a
 * session for what `p->spool` says. */
bool session_use(struct session *s, struct session_path *p);
/* What the present session forwards: the group's number from 1; 0: nothing, or there is none. */
uint32_t session_spool(struct session *s);
/* The next ACK of the session `generation`. Returns false where there is none. */
bool session_ack(struct session *s, unsigned int generation, struct ack *ack);
/* The next message that the control thread wants to be sent (HEARD, PROBE, ECHO, RENEW, INFO,
 * ANSWER) in this session. Returns its bytes, 0 where there is none. A PROBE's stamp, bytes 1 to 8,
 * is for the sender to fill in, with session_clock_ns(). */
size_t session_outbox(struct session *s, unsigned int generation, uint8_t message[MESSAGE_MAX]);
/* What lasts of the present info, where that has changed since it was taken into `i`. Returns
 * whether it has. */
bool session_lasting(struct session *s, struct info_lasting *i);
/* Something was sent at `now_ns`: from then on silence counts. */
void session_sent(struct session *s, uint64_t now_ns);
/* The kernel says that nobody listens there. */
void session_refused(struct session *s);
/* Protocol time. Any thread. */
uint64_t session_clock_ns(struct session *s);

/* ---- between the session's own files --------------------------------------------------------- */

/* Protocol time with peer `peer`. */
uint64_t session_time(const struct session *s, unsigned int peer, uint64_t now_ns);
/* Puts a message into the outbox, in place of one of its kind that waits. Control thread. */
void session_post(struct session *s, const uint8_t *message, size_t len);
void session_post_ack(struct session *s, unsigned int generation, const struct ack *ack);
/* A session of root `k2` (wiped) on `sock` with `peer` becomes the present one; of `terms`, window,
 * sensor_id and padded count. Returns 0 or -ENOMEM. */
int session_begin(struct session *s, unsigned int peer, int sock, uint8_t k2[KEY_LEN],
		  const struct session_path *terms, uint64_t now_ns);
/* The present session is over; what was under way is still taken for a while. */
void session_retire(struct session *s, uint64_t now_ns);
/* Tells of what has changed. */
void session_tell(struct session *s, uint64_t now_ns);
/* Which slots of an interval have gone out to this peer: bit j. For the caller to add to. */
uint32_t *session_slots_used(struct session_peer *p, uint64_t interval);
/* Asks for a session, from a port that no earlier set-up came from. */
void session_ask(struct session *s, unsigned int peer, uint64_t now_ns);
/* Goes on with that when its time has come. Returns when that is, 0: no more is to be done. */
uint64_t session_ask_on(struct session *s, uint64_t now_ns);
/* Asks for a session under a cookie of the collector's that is asked. */
void session_handshake_fresh(struct session *s, uint64_t cookie, uint64_t now_ns);
/* Something was heard of the collector that is asked. */
void session_sign(struct session *s, enum session_sign sign);
/* Notes that no route leads to the collector that is asked. `err` is -errno. */
void session_unrouted(struct session *s, int err);
/* Whether a line has said why that collector gives no session. */
bool session_failure_reason_is_told(const struct session *s, unsigned int peer);
/* Logs why, unless a line has said so. */
void session_tell_asking(struct session *s, unsigned int peer);
/* Logs why collector `old` gave none, and that the next one is asked. */
void session_tell_trying(struct session *s, unsigned int old);
/* What goes first to a collector: what waits in the spool, from the oldest on. Numbers from 1. */
uint32_t session_spool_for(const struct session *s, unsigned int peer);
/* Asks for a session where none is up: it is time to. `next_init_ns` is when to do so again. */
void session_handshake(struct session *s, uint64_t now_ns);
/* One datagram from the collector. */
void session_receive_datagram(struct session *s, const uint8_t *in, size_t len, uint64_t now_ns);

#endif
