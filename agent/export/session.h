/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Session with the collector (docs/wire.md). The control thread sets it up, keeps it alive, renews
 * it, and opens all datagrams of the collector. The export thread seals and sends all datagrams to
 * it. They exchange data in a mailbox with one lock.
 *
 *     session.c           renewal, probes, silence              control thread
 *     handshake.c         requests sessions                     control thread
 *     handshake_answer.c  takes the answers                     control thread
 *     session_receive.c   handles the collector's datagrams     control thread
 *     session_link.c      begins and ends sessions              control thread
 *     session_keys.c      the collectors' keys                  control thread
 *     failure_reason.c    logs why there is no session          control thread
 *     session_mailbox.c   exchanges data between the threads    both
 *     session_send.c      seals and sends datagrams             export thread
 *     one_way.c           --one-way: instead of the first four
 *     sockets.c           addresses and sockets
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
#include "wire/order.h"
#include "wire/request.h"
#include "wire/shroud.h"
#include "wire/spool.h"
#include "wire/table.h"
#include "wire/tryst.h"

#define SESSION_SILENCE_NS 3000000000ULL
#define SESSION_RENEW_NS 120000000000ULL
#define SESSION_OLD_NS 10000000000ULL	 /* an old session's datagrams are still accepted */
#define SESSION_BETTER_NS 30000000000ULL /* interval of tries at collectors of higher priority */
#define SESSION_FAILURE_REASON_MAX 400
#define SESSION_ACKS 32		/* waiting for the export thread; the oldest is dropped */
#define SESSION_OUTBOX 6	/* kinds of messages in it */
#define SESSION_INFO_REPEATS 10 /* a change is sent so often, a second apart */
#define SESSION_YEAR_2020_NS 1577836800000000000ULL /* a valid clock is later */
#define SESSION_KEYS 2				    /* public keys of a collector */
#define SESSION_WINDOW 1024 /* addresses that the collector should know ahead */

/* The export thread's sending state. It has its own copy, so that only it counts. */
struct session_path {
	unsigned int generation; /* rises with each session; 0: none yet */
	int sock;		 /* UDP, connected, non-blocking; not owned */
	struct shroud_tx tx;
	uint32_t window;
	uint16_t sensor_id;
	bool padded;	/* every datagram has SHROUD_DATAGRAM_PADDED bytes */
	uint32_t spool; /* the forwarded group, from 1; 0: the current run */
};

/* An earlier process's records in the spool, for a session of their own (spool.h). */
struct session_spool {
	uint64_t run;
	/* E and the file's key, wrapped for a collector's keys; `has`: it is */
	struct session_spool_key {
		bool has;
		uint8_t public[KEY_LEN];
		uint8_t hello[SPOOL_HELLO_LEN];
	} keys[SOCKETS_PEERS][SESSION_KEYS];
	uint8_t ephemeral[KEY_LEN]; /* E */
	bool is_for[SOCKETS_PEERS]; /* collector that can open it */
	struct info_lasting info;   /* of its first record */
	bool done;		    /* atomic */
};

/* Why there is no session, as far as known. Later signs are more specific. */
enum session_sign {
	SESSION_NOT_ASKED,
	SESSION_NOTHING,
	SESSION_NO_ROUTE,
	SESSION_PATH_MTU,	  /* our own interface takes no datagrams of this length */
	SESSION_PORT_CLOSED,	  /* by ICMP, which is not authentic */
	SESSION_REQUEST_ANSWERED, /* but no m1 was answered */
	SESSION_KEY_IN_USE,	  /* by another instance of this sensor */
	SESSION_OTHER_VERSION,
};

/* A public key of a collector, and what is shared with it. */
struct session_key {
	uint8_t public[KEY_LEN], pair[KEY_LEN];
	struct {
		uint64_t interval;
		uint32_t used; /* bit j: its slot j was used */
	} slots[3];	       /* interval n is at n % 3 */
};

/*
 * The file of --collector-keys, with the keys that collectors have ordered. A line is
 *
 *     HOST:PORT FIRST KEY [KEY]
 *
 * where FIRST is the collector's key in the key file. The last line of a collector counts. Lines
 * are appended, so a loss of power leaves the earlier ones. Lines for another FIRST do not count: a
 * change of the key file takes all ordered trust back.
 */
struct session_keys_file {
	const char *path;
	int fd; /* -1: none */
};
#define SESSION_KEYS_FILE_MAX 16384 /* bytes, then the file is begun anew */

/* A collector's address and keys. */
struct session_peer {
	struct sockets_address address;
	int no_route;		/* -errno for SESSION_NO_ROUTE */
	enum session_sign sign; /* of the last attempt with any answer */
	unsigned int told;	/* signs logged since it last answered, one bit each */
	uint8_t first[KEY_LEN], next[KEY_LEN]; /* its public keys in the key file */
	uint8_t preshared[KEY_LEN];	       /* zeros: none */
	struct session_key keys[SESSION_KEYS];
	unsigned int key_count, key; /* `key`: of the present session, or the last attempt */
	bool in_vain;		     /* the last attempt has no answer */
	bool clock_set; /* set by the collector: its time is CLOCK_MONOTONIC + clock_base_ns */
	uint64_t clock_base_ns;
};

/* An attempt: an m1 that waits for its answer, and requests for a cookie. */
struct session_asked {
	unsigned int peer;
	uint32_t spool;
	int sock;		/* negative: none */
	enum session_sign sign; /* sign of this attempt */
	bool waits;		/* `tryst` belongs to a sent m1 */
	struct tryst_asked tryst;
	uint64_t request_ns;		  /* time of the next request; 0: none */
	unsigned int requested;		  /* requests that wait for an answer */
	bool told;			  /* one was answered */
	struct request_asked requests[2]; /* first with a date, then without */
};

/* A session's receiving half: of the current one, and of earlier ones for SESSION_OLD_NS. */
struct session_link {
	unsigned int generation; /* 0: free */
	unsigned int peer;
	int sock;
	struct shroud_rx rx;
	uint8_t chain[KEY_LEN];
	uint64_t since_ns;
	uint64_t ends_ns; /* 0: the current one */
	uint64_t heard;	  /* received datagrams */
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

struct session;

/* How a session is set up and kept: with a collector that answers, or one-way (one_way.h). For the
 * control thread. */
struct session_ops {
	bool receives; /* the collector's datagrams are handled */
	/* Does due work. Returns milliseconds until it must be called again. */
	int (*tick)(struct session *s, uint64_t now_ns);
	/* Replaces the current session, whose keys another machine may have. */
	void (*replace)(struct session *s, uint64_t now_ns);
};

#define SESSION_LINKS (SOCKETS_MAX - 1)

struct session {
	const struct session_ops *ops;
	void *ops_state;	       /* of `ops`; not owned */
	const char *peer;	       /* HOST:PORT of the current collector, for messages */
	uint64_t run;		       /* random number of this run */
	int changed_fd;		       /* eventfd: up, down, an ACK, or a message in the outbox */
	const __u64 *exported;	       /* frames before the stored ones; read atomically */
	uint64_t (*realtime_ns)(void); /* the sensor's clock; tests replace it */
	uint64_t renew_ns;	       /* age at which a session is renewed */
	uint32_t window;	       /* requested */
	bool pad;		       /* all our datagrams have SHROUD_DATAGRAM_PADDED bytes */
	struct keypair own;
	uint8_t instance[TRYST_INSTANCE_LEN];	  /* instance.h */
	struct session_peer peers[SOCKETS_PEERS]; /* by priority */
	unsigned int peer_count;
	struct session_keys_file keys_file;
	struct session_spool *spools;
	unsigned int spool_count;
	/* Called by the control thread after a collector's keys have changed. NULL: no spool. */
	void (*keys_changed)(void *arg);
	void *keys_changed_arg;

	/* control thread */
	struct info info; /* the sensor's description; `exported` and `change` are set here */
	/* Takes an ORDER; `text` is not terminated. NULL: orders count as bad. Answer with
	 * session_answer(). */
	void (*order)(void *arg, uint64_t number, const char *text, size_t len);
	void *order_arg;
	struct sockets reach;
	struct table table;
	struct session_link links[SESSION_LINKS];
	struct session_link *present; /* NULL: no session */
	struct session_asked asked;
	unsigned int trying;	 /* the peer being asked */
	unsigned int unanswered; /* attempts since the last datagram in a session with it */
	unsigned int heard_peer; /* last peer with a datagram */
	bool connected;		 /* since its first datagram, until it is silent */
	bool was_silent;	 /* before this datagram, the log had a reason for no session */
	unsigned int failed;	 /* failed peers since one has answered */
	unsigned int attempts;	 /* attempts since one was answered */
	unsigned int better;	 /* attempts at those of higher priority */
	uint64_t next_init_ns, next_better_ns;
	struct keypair renewal; /* ephemeral key of the repeated RENEW */
	bool renewing;
	uint64_t next_renew_ns, next_probe_ns, next_info_ns;
	unsigned int probes, info_due;
	uint64_t told_ns;	/* when the measured round trip was sent */
	uint64_t bad_datagrams; /* not expected */

	/* shared */
	pthread_mutex_t lock; /* protects the members up to the empty line */
	bool up;
	struct session_path path;
	struct session_ack acks[SESSION_ACKS];
	unsigned int acks_first, acks_count;
	bool clock_set; /* of the current peer, as above */
	uint64_t clock_base_ns;
	uint64_t round_trip_ns; /* the shortest recent one; 0: not known */
	int64_t offset_ns;	/* the collector's clock minus ours, measured with it */
	int64_t ours_ns;	/* our clock minus CLOCK_MONOTONIC at that time */
	uint64_t measured_ns;	/* CLOCK_MONOTONIC of the measurement */

	uint64_t first_send_ns; /* oldest datagram without a later one of theirs; 0: none; atomic */

	/* protected by the lock, too; no keys */
	struct session_message outbox[SESSION_OUTBOX];
	struct info_lasting *lasting; /* of `info`: the spool's; NULL: no spool */
};

/* ---- start and end --------------------------------------------------------------------------- */

/* Opens sockets, before the sandbox. `to`: HOST:PORT of `count` collectors by priority; names are
 * resolved later (lookup.h). `peers`: one key for all, or one each. Copies everything. Set other
 * values than the defaults (renew_ns, window, pad, order, realtime_ns) after it. Returns 0, or
 * -errno after a line. */
int session_init(struct session *s, const struct sockets_name *to, unsigned int count,
		 const struct keypair *own, const struct keys_peers *peers);
/* Opens or makes the file of --collector-keys, with privilege. Returns 0, or -errno after a line.
 */
int session_keys_open(struct session_keys_file *f, const char *path);
/* Adds the keys in `keys_file` to those of the key file. Call it before the sandbox. */
void session_keys_load(struct session *s);
/* Returns why that collector gives no session. */
void session_failure_reason(const struct session *s, unsigned int peer,
			    char text[SESSION_FAILURE_REASON_MAX]);
/* Logs why each collector gave no session. */
void session_tell_failed(const struct session *s);
/* Notes that there is currently no route to that collector. `err` is -errno. */
void session_no_route(struct session *s, unsigned int peer, int err);
/* Logs why that collector gives no session, unless it was logged. */
void session_tell_asking(struct session *s, unsigned int peer);
/* Wipes all keys. Also call it after a failed session_init. */
void session_free(struct session *s);

/* ---- control thread -------------------------------------------------------------------------- */

struct pollfd;
#define SESSION_POLL_MAX (2 * SOCKETS_MAX)
/* Fills in at most SESSION_POLL_MAX entries to wait for. Returns their number. */
unsigned int session_poll(const struct session *s, struct pollfd *p);
/* Receives datagrams. */
void session_receive(struct session *s, uint64_t now_ns);
/* Does due work: handshakes, renewal, probes. Returns milliseconds until it must be called
 * again. */
int session_tick(struct session *s, uint64_t now_ns);
/* Call it when `info` is set: passes its lasting part to the export thread, if it has a spool. */
void session_info_set(struct session *s);
/* Another machine may have the current session's keys: sets up a new one at once, and sends no more
 * in this one. A one-way session is replaced as soon as the new one was announced. */
void session_new_keys(struct session *s, uint64_t now_ns);
/* Call it after a change of `info` during a session. */
void session_info_changed(struct session *s);
/* Executes an order of the present collector to trust these keys, and writes `keys_file`. Returns 0
 * or -errno, with what was done, or the reason, in `said`. */
int session_keys_order(struct session *s, const struct order_keys *k, char *said, size_t size);
/* Sends the ANSWER to order `number`; `text` is truncated to one datagram. */
void session_answer(struct session *s, uint64_t number, uint8_t status, const char *text);

/* ---- export thread --------------------------------------------------------------------------- */

/* Copies the current session's path if it differs from `p`. Returns whether there is a session for
 * `p->spool`. */
bool session_use(struct session *s, struct session_path *p);
/* Returns the group that the current session forwards, from 1; 0: none, or no session. */
uint32_t session_spool(struct session *s);
/* Takes the next ACK of session `generation`. Returns false if there is none. */
bool session_ack(struct session *s, unsigned int generation, struct ack *ack);
/* Takes the control thread's next message for this session (HEARD, PROBE, ECHO, RENEW, INFO,
 * ANSWER). Returns its bytes, or 0. The sender fills in a PROBE's stamp, bytes 1 to 8, with
 * session_clock_ns(). */
size_t session_outbox(struct session *s, unsigned int generation, uint8_t message[MESSAGE_MAX]);
/* Copies the info's lasting part to `i` if it has changed. Returns whether it has. */
bool session_lasting(struct session *s, struct info_lasting *i);
/* Notes that a datagram was sent at `now_ns`: silence counts from then on. */
void session_sent(struct session *s, uint64_t now_ns);
/* The kernel reports that the port is closed. */
void session_refused(struct session *s);
/* Returns protocol time. Any thread. */
uint64_t session_clock_ns(struct session *s);
/* Returns the measured round trip, and sets how far the clock that stamps frames is ahead of the
 * collector's at CLOCK_MONOTONIC `now_ns`, the present time. 0: not measured. Any thread. */
uint64_t session_measured(struct session *s, uint64_t now_ns, int64_t *ahead_ns);

/* ---- between the session's own files --------------------------------------------------------- */

/* Sets a collector's keys, with their secrets. Keys that it had keep their used slots. Returns 0,
 * or -EINVAL with nothing changed: one of them is no public key. */
int session_keys_set(struct session *s, unsigned int peer, const struct order_keys *k);
/* Returns the first 8 bytes of the present collector's key, as load_word() reads them. */
uint64_t session_key_begin(struct session *s);
/* Writes the first characters of a collector's other key, "" if it has one. */
void session_keys_tell(const struct session_peer *p, char trusts[KEY_SHORT_LEN]);
/* Chooses the key for another attempt: the other one if the last attempt had no answer. */
void session_keys_turn(struct session_peer *p);
/* The key of the session with a collector, or of the last attempt. */
static inline struct session_key *session_peer_key(struct session_peer *p)
{
	return &p->keys[p->key];
}

/* Returns how far the clock that stamps frames is ahead of the collector's. A request for the time
 * does not correct this clock, and it may have been set since the measurement. Under the lock. */
static inline int64_t session_ahead_ns(const struct session *s, uint64_t now_ns)
{
	int64_t collector_ns = s->offset_ns + s->ours_ns; /* minus CLOCK_MONOTONIC */

	return s->realtime_ns() - now_ns - collector_ns;
}

/* Returns protocol time with peer `peer`. */
uint64_t session_time(const struct session *s, unsigned int peer, uint64_t now_ns);
/* Puts a message into the outbox, and replaces a waiting one of its kind. Control thread. */
void session_post(struct session *s, const uint8_t *message, size_t len);
void session_post_ack(struct session *s, unsigned int generation, const struct ack *ack);
/* Makes a session with root `k2` (wiped) on `sock` with `peer` the current one; its path
 * has the window, sensor_id, padded and spool of `terms`. Returns 0 or -ENOMEM. */
int session_begin(struct session *s, unsigned int peer, int sock, uint8_t k2[KEY_LEN],
		  const struct session_path *terms, uint64_t now_ns);
/* Frees the links whose sessions ended long enough ago. */
void session_links_expire(struct session *s, uint64_t now_ns);
/* Ends the current session. Its datagrams are accepted for a while. */
void session_retire(struct session *s, uint64_t now_ns);
/* Signals a change. */
void session_tell(struct session *s, uint64_t now_ns);
/* Returns the slots of an interval used for this key, bit j, for the caller to add to. */
uint32_t *session_slots_used(struct session_key *k, uint64_t interval);
/* Requests a session, from a new port. */
void session_ask(struct session *s, unsigned int peer, uint64_t now_ns);
/* Continues the attempt when due. Returns the next due time; 0: none. */
uint64_t session_ask_on(struct session *s, uint64_t now_ns);
/* Requests a session under a cookie of the collector being asked. */
void session_handshake_fresh(struct session *s, uint64_t cookie, uint64_t now_ns);
/* Handles a datagram that may be an answer to the attempt. Returns whether it is one. */
bool session_handshake_answer(struct session *s, const uint8_t *in, size_t len, uint64_t now_ns);
/* Notes an answer of the collector being asked. */
void session_sign(struct session *s, enum session_sign sign);
/* Whether the reason of that collector was logged. */
bool session_failure_reason_is_told(const struct session *s, unsigned int peer);
/* Logs why collector `old` gave no session, and that the next one is asked. */
void session_tell_trying(struct session *s, unsigned int old);
/* Returns what to send first to a collector: the oldest group in the spool, from 1, or 0. */
uint32_t session_spool_for(const struct session *s, unsigned int peer);
/* Requests a session when due. Sets `next_init_ns` to the next time. */
void session_handshake(struct session *s, uint64_t now_ns);
/* Handles one datagram from the collector. */
void session_receive_datagram(struct session *s, const uint8_t *in, size_t len, uint64_t now_ns);

#endif
