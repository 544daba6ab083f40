/* SPDX-License-Identifier: GPL-2.0 */
/*
 * saluki-swarm: many simulated sensors in one thread. They share sockets and the table of addresses
 * (main.c), turns and the rate (loop.c), and the combos that all of them send (combos.c). Each
 * sensor has its handshakes (handshake.c), keys of the collector (keys.c), a session (session.c),
 * and datagrams to send in the session (send.c). In the table, sensor n owns the addresses of its
 * session as 2 n + 2, and those of answers to its handshakes as 2 n + 3.
 */
#ifndef SWARM_SWARM_H
#define SWARM_SWARM_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/combo.h"
#include "wire/compress.h"
#include "wire/info.h"
#include "wire/message.h"
#include "wire/order.h"
#include "wire/request.h"
#include "wire/table.h"
#include "wire/tryst.h"

#define SWARM_COMBOS 4096 /* limit of prepared combos that some sensor has not settled */
#define SWARM_ASKED 4	  /* a sensor's handshakes that may still be answered */
#define SWARM_FLIGHT 1024 /* a sensor's datagrams that may still be acknowledged */
#define SWARM_WINDOW 1024
#define SWARM_SOCKETS 128

/* ---- combos ---------------------------------------------------------------------------------- */

struct swarm_combo {
	uint64_t first; /* frames of the run before it */
	uint32_t frames;
	uint16_t len, body_len;
	uint8_t wire[]; /* with a sensor's id of 0 */
};

/* All sensors send the same combos: every sensor's n-th combo has the same frames. */
struct swarm_combos {
	struct combo_frame *frames;
	uint8_t *bytes; /* of the frames */
	uint32_t frames_len, frame;
	struct combo combo;
	struct compress compress;
	struct swarm_combo *list[SWARM_COMBOS]; /* count % SWARM_COMBOS */
	uint64_t from, until;			/* combos in the list */
	uint64_t first;				/* frames before combo `until` */
};

/* Reads the frames of a capture file, or makes frames if `file` is NULL. Returns 0 or -errno after
 * a line. */
int swarm_combos_init(struct swarm_combos *c, const char *file);
void swarm_combos_free(struct swarm_combos *c);
/* Returns combo `count`, or NULL if there is no room until sensors have settled more combos. */
const struct swarm_combo *swarm_combos_get(struct swarm_combos *c, uint64_t count);
/* Frees the combos below `below`. */
void swarm_combos_release(struct swarm_combos *c, uint64_t below);

/* ---- sensors --------------------------------------------------------------------------------- */

struct swarm_slot { /* a combo in flight; a bit for each piece */
	uint64_t sent, acked, full;
};

struct swarm_flight { /* a datagram in flight: number % SWARM_FLIGHT */
	uint32_t combo;
	uint8_t piece;
	bool live;
};

/* A public key of the collector, and what is shared with it. */
struct swarm_key {
	uint8_t public[KEY_LEN], pair[KEY_LEN];
};

struct swarm_sensor {
	struct keypair own;
	struct swarm_key keys[WIRE_ORDER_KEYS_MAX];
	uint8_t key_count, key; /* `key`: of the last attempt */
	bool in_vain;		/* it has no answer */
	uint64_t run;
	int sock; /* not owned */

	/* handshake: `attempt` counts all attempts, `tries` those without an answer */
	uint64_t interval, asked_ns[SWARM_ASKED], retry_ns;
	uint32_t slots_used, attempt, tries;
	struct tryst_asked asked[SWARM_ASKED];
	uint64_t answers[SWARM_ASKED];	  /* addresses in the table; 0: none */
	int64_t ahead_ns;		  /* its clock minus this machine's */
	struct request_asked requests[2]; /* of the current attempt: with a date, and without */
	unsigned int requested;
	bool told;	     /* a request of this attempt was answered */
	uint64_t request_ns; /* time of the next request; 0: none */

	/* the session */
	bool up, fresh;	     /* fresh: since the last SIGUSR1 */
	uint32_t attempt_up; /* attempt that the session answers */
	struct shroud_tx tx;
	struct shroud_rx rx;
	uint16_t sensor_id;
	uint32_t window;
	uint64_t acked;	      /* highest acknowledged number */
	uint64_t waits_ns;    /* start of the wait for an answer; 0: no datagram waits */
	uint64_t totals_ns;   /* time of the next totals */
	uint64_t between_ns;  /* time of the next progress between two of them */
	uint64_t progress_at; /* combos at the last progress */
	uint64_t cookie;      /* ECHO's */
	unsigned int unheard; /* datagrams since HEARD */
	bool echo_due, heard_due;
	uint8_t chain[KEY_LEN];
	struct keypair renewal; /* E_s of an unanswered RENEW */
	bool renewing;
	uint64_t renew_ns; /* time of the next RENEW */

	/* combos below `settled` are done; below `taken` they need not be sent; below `sending`
	 * they are in slots; below `begun` they were sent at least once */
	uint64_t settled, taken, sending, begun, held;
	uint64_t frames;	 /* in those begun */
	uint64_t settled_frames; /* in those settled */
	bool floor_due;		 /* the session's collector may not know what is settled */
	struct swarm_slot slots[PIECE_COMBOS_AHEAD];
	struct swarm_flight *flight;
	uint64_t oldest, cut; /* numbers: the oldest in flight; no second halving below `cut` */
	unsigned int in_flight, window_now;
	uint64_t progress_ns, rto_ns;
	bool final_sent, done, ready;
};

struct swarm_options {
	const char *host, *port, *seed, *file, *sensors_file;
	uint8_t collector[KEY_LEN];
	bool has_collector, pad, json;
	long count, first, rate, combos, seconds, patience, renew, clock_ahead;
};

struct swarm_counters {
	uint64_t set_ups, requests, sessions, renewals, lost_sessions, datagrams, bytes, heard,
		bad_datagrams;
	uint64_t combos, combos_settled, frames, frames_settled, retransmitted;
};

struct swarm {
	const struct swarm_options *o;
	struct swarm_sensor *sensors;
	uint64_t *due; /* time of each sensor's next tick, ns */
	struct swarm_combos combos;
	struct table table;
	struct swarm_counters counters;
	uint32_t *ready; /* ring of sensors that may have pieces to send */
	uint32_t ready_from, ready_len;
	float *set_up_ms; /* each sensor's first ones, in order */
	unsigned int set_up_count, fresh, done;
	double tokens; /* datagrams that the rate allows now */
	bool ending;   /* no new combos */
	uint64_t start_ns, all_up_ns;
};

/* Makes the keys of sensor `i` from a seed. */
void swarm_key(struct keypair *own, const char *seed, unsigned long i);
int swarm_list_write(const struct swarm_options *o);
/* Returns 0, an exit status after a line, or -1 after --help or a similar option. */
int swarm_options_parse(struct swarm_options *o, int argc, char **argv);
/* Prints the report to standard output. Sorts the handshakes' times. */
void swarm_report(struct swarm *w, uint64_t took_ns);

/* SIGINT and SIGTERM end the loop after this call; SIGUSR1 restarts the count of sessions. */
void swarm_signals(void);
/* Runs until all sensors are done, or until --patience is over. */
void swarm_loop(struct swarm *w, int epoll);

/* Returns 0, or -EINVAL if the collector's key is not valid. */
int swarm_sensor_init(struct swarm *w, unsigned int i, int sock);
void swarm_sensor_free(struct swarm *w, unsigned int i);
/* Does a sensor's due work. */
void swarm_sensor_tick(struct swarm *w, unsigned int i, uint64_t now);
/* Returns the owner, in the table, of the addresses of its session. */
uint32_t swarm_owner(const struct swarm *w, const struct swarm_sensor *s);

/* Sets the sensor's keys of the collector. Returns 0, or -EINVAL with nothing changed. */
int swarm_keys_set(struct swarm_sensor *s, const struct order_keys *k);
/* Chooses the key for another attempt. */
void swarm_keys_turn(struct swarm_sensor *s);
void swarm_keys_tell(const struct swarm_sensor *s, char trusts[KEY_SHORT_LEN]);
/* Takes an ORDER. Only orders of keys are executed. */
void swarm_ordered(struct swarm *w, struct swarm_sensor *s, const uint8_t *in, size_t len,
		   uint64_t now);

/* For a sensor without a session: does due work, and sets the time of the next. */
void swarm_set_up(struct swarm *w, struct swarm_sensor *s, uint64_t now);
uint64_t swarm_set_up_due(const struct swarm_sensor *s);
/* Takes a possible answer to the sensor's handshake `n`. It is not authentic yet. */
void swarm_answered(struct swarm *w, struct swarm_sensor *s, uint32_t n, const uint8_t *in,
		    size_t len, uint64_t now);
/* Returns whether a datagram from `sock` is the answer to a sensor's request. Each junk datagram
 * costs one key derivation per waiting sensor. */
bool swarm_told(struct swarm *w, int sock, const uint8_t *in, size_t len, uint64_t now);
void swarm_set_up_free(struct swarm *w, struct swarm_sensor *s);
/* Makes the session with root `k2` (wiped) the current one. Returns 0 or -ENOMEM. */
int swarm_session_keys(struct swarm *w, struct swarm_sensor *s, uint8_t k2[KEY_LEN], uint64_t now);

/* Takes a datagram from `sock`, for any sensor. */
void swarm_receive(struct swarm *w, int sock, const uint8_t *in, size_t len, uint64_t now);

/* Sends a message in the sensor's session if the window has room. Returns its number or 0. */
uint64_t swarm_send(struct swarm *w, struct swarm_sensor *s, const uint8_t *message, size_t len,
		    uint64_t now);
void swarm_datagram(struct swarm *w, struct swarm_sensor *s, const uint8_t *datagram, size_t len);
/* Sends due ECHO, HEARD and TOTALS messages. */
void swarm_send_control(struct swarm *w, struct swarm_sensor *s, uint64_t now);
/* Sends at most `max` pieces, as window and rate allow. Returns whether only the rate prevents
 * more. */
bool swarm_send_pieces(struct swarm *w, struct swarm_sensor *s, unsigned int max, uint64_t now);
void swarm_acked(struct swarm *w, struct swarm_sensor *s, const struct ack *a, uint64_t now);
/* Marks all combos that were not taken as due again. Call it after a long silence, and in a new
 * session. */
void swarm_send_again(struct swarm *w, struct swarm_sensor *s);
void swarm_session_begun(struct swarm *w, struct swarm_sensor *s, uint64_t now);
bool swarm_all_sent(const struct swarm *w, const struct swarm_sensor *s);
void swarm_ready(struct swarm *w, struct swarm_sensor *s);

#endif
