/* SPDX-License-Identifier: GPL-2.0 */
/*
 * saluki-swarm: many simulated sensors in one thread. What they share (main.c: sockets, the table
 * of addresses; loop.c: turns, the rate), the combos that all of them send (combos.c), one sensor's
 * set-ups (handshake.c), its session (session.c) and what it sends in it (send.c).
 * Owner of an address in the table: twice the sensor's number and 2, and 1 more where it is that of
 * an answer to a set-up.
 */
#ifndef SWARM_SWARM_H
#define SWARM_SWARM_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/combo.h"
#include "wire/compress.h"
#include "wire/message.h"
#include "wire/request.h"
#include "wire/table.h"
#include "wire/tryst.h"

#define SWARM_COMBOS 4096 /* prepared and not settled by every sensor yet, at most */
#define SWARM_ASKED 4	  /* set-ups of a sensor that may still be answered */
#define SWARM_FLIGHT 1024 /* datagrams of a sensor that may still be acknowledged */
#define SWARM_WINDOW 1024
#define SWARM_SOCKETS 128

/* ---- combos ---------------------------------------------------------------------------------- */

struct swarm_combo {
	uint64_t first; /* frames of the run before it */
	uint32_t frames;
	uint16_t len, body_len;
	uint8_t wire[]; /* with a sensor's id of 0 */
};

/* All sensors send the same combos: the n-th of each has the same frames. */
struct swarm_combos {
	struct combo_frame *frames;
	uint8_t *bytes; /* of the frames */
	uint32_t frames_len, frame;
	struct combo combo;
	struct compress compress;
	struct swarm_combo *list[SWARM_COMBOS]; /* count % SWARM_COMBOS */
	uint64_t from, until;			/* counts that are there */
	uint64_t first;				/* frames in all before `until` */
};

/* Reads the frames of a capture file, or makes some where `file` is NULL. Returns 0 or -errno after
 * a line. */
int swarm_combos_init(struct swarm_combos *c, const char *file);
void swarm_combos_free(struct swarm_combos *c);
/* Combo `count`; NULL where there is no room for it: sensors have to settle some. */
const struct swarm_combo *swarm_combos_get(struct swarm_combos *c, uint64_t count);
/* Nobody needs those below any more. */
void swarm_combos_release(struct swarm_combos *c, uint64_t below);

/* ---- sensors --------------------------------------------------------------------------------- */

struct swarm_slot { /* a combo under way; a bit for each piece */
	uint64_t sent, acked, full;
};

struct swarm_flight { /* a datagram under way: number % SWARM_FLIGHT */
	uint32_t combo;
	uint8_t piece;
	bool live;
};

struct swarm_sensor {
	struct keypair own;
	uint8_t pair[KEY_LEN];
	uint64_t run;
	int sock; /* not owned */

	/* set-up: `attempt` counts all of them, `tries` those without an answer */
	uint64_t interval, asked_ns[SWARM_ASKED], retry_ns;
	uint32_t slots_used, attempt, tries;
	struct tryst_asked asked[SWARM_ASKED];
	uint64_t answers[SWARM_ASKED];	  /* addresses in the table, 0: not there */
	int64_t ahead_ns;		  /* its clock, of this machine's */
	struct request_asked requests[2]; /* of the present attempt: with a date, and without */
	unsigned int requested;
	bool told;	     /* in this attempt: it needs no answer to a request any more */
	uint64_t request_ns; /* when the next one is due, 0: none is */

	/* the session */
	bool up, fresh;	     /* fresh: since the last SIGUSR1 */
	uint32_t attempt_up; /* it is the answer to this attempt */
	struct shroud_tx tx;
	struct shroud_rx rx;
	uint16_t sensor_id;
	uint32_t window;
	uint64_t acked;	      /* the highest that was acknowledged */
	uint64_t waits_ns;    /* since when nothing has answered what was sent, 0: nothing waits */
	uint64_t totals_ns;   /* when the next are due */
	uint64_t cookie;      /* ECHO's */
	unsigned int unheard; /* datagrams since HEARD */
	bool echo_due, heard_due;
	uint8_t chain[KEY_LEN];
	struct keypair renewal; /* E_s of a RENEW that is not answered yet */
	bool renewing;
	uint64_t renew_ns; /* when the next RENEW is due */

	/* combos: those below `settled` are done, below `taken` need not be sent, below `sending`
	 * are in slots, below `begun` have been sent at least once */
	uint64_t settled, taken, sending, begun, held;
	uint64_t frames; /* in those begun */
	struct swarm_slot slots[PIECE_COMBOS_AHEAD];
	struct swarm_flight *flight;
	uint64_t oldest, cut; /* numbers: the oldest live one; no second halving below */
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
	uint64_t *due; /* when each sensor's tick is next, ns */
	struct swarm_combos combos;
	struct table table;
	struct swarm_counters counters;
	uint32_t *ready; /* ring of sensors that may have pieces to send */
	uint32_t ready_from, ready_len;
	float *set_up_ms; /* the first ones of each sensor, in their order */
	unsigned int set_up_count, fresh, done;
	double tokens; /* datagrams that the rate allows now */
	bool ending;   /* no combo is begun any more */
	uint64_t start_ns, all_up_ns;
};

/* Keys of sensor `i` of a seed, and the line that the collector's list has for it. */
void swarm_key(struct keypair *own, const char *seed, unsigned long i);
int swarm_list_write(const struct swarm_options *o);
/* Returns 0, an exit status after a line, or -1 after --help and what is like it. */
int swarm_options_parse(struct swarm_options *o, int argc, char **argv);
/* To standard output. Sorts the times of set-ups. */
void swarm_report(struct swarm *w, uint64_t took_ns);

/* SIGINT and SIGTERM end the loop after this call; SIGUSR1 restarts the count of sessions. */
void swarm_signals(void);
/* Goes on until all sensors are done, or patience is at its end. */
void swarm_loop(struct swarm *w, int epoll);

/* Returns 0, or -EINVAL where the collector's key is none. */
int swarm_sensor_init(struct swarm *w, unsigned int i, int sock);
void swarm_sensor_free(struct swarm *w, unsigned int i);
/* What is due by now. */
void swarm_sensor_tick(struct swarm *w, unsigned int i, uint64_t now);
/* Owner of the addresses of its session in the table. */
uint32_t swarm_owner(const struct swarm *w, const struct swarm_sensor *s);

/* Of a sensor that has no session: what is due by now, and when the next is. */
void swarm_set_up(struct swarm *w, struct swarm_sensor *s, uint64_t now);
uint64_t swarm_set_up_due(const struct swarm_sensor *s);
/* The answer to the sensor's set-up `n`; anybody may have made it. */
void swarm_answered(struct swarm *w, struct swarm_sensor *s, uint32_t n, const uint8_t *in,
		    size_t len, uint64_t now);
/* Whether a datagram that came to `sock` is the answer to some sensor's request. Who sends junk
 * costs the swarm a derivation for each sensor that waits. */
bool swarm_told(struct swarm *w, int sock, const uint8_t *in, size_t len, uint64_t now);
void swarm_set_up_free(struct swarm *w, struct swarm_sensor *s);
/* The session with root `k2`, which is wiped, is the present one. Returns 0 or -ENOMEM. */
int swarm_session_keys(struct swarm *w, struct swarm_sensor *s, uint8_t k2[KEY_LEN], uint64_t now);

/* A datagram that has come to `sock`, of whatever sensor. */
void swarm_receive(struct swarm *w, int sock, const uint8_t *in, size_t len, uint64_t now);

/* Sends a message in the sensor's session, where its window has room. Returns its number or 0. */
uint64_t swarm_send(struct swarm *w, struct swarm_sensor *s, const uint8_t *message, size_t len,
		    uint64_t now);
void swarm_datagram(struct swarm *w, struct swarm_sensor *s, const uint8_t *datagram, size_t len);
/* ECHO, HEARD and TOTALS that are due. */
void swarm_send_control(struct swarm *w, struct swarm_sensor *s, uint64_t now);
/* Sends pieces, at most `max` and what window and rate allow. Returns whether the sensor could send
 * more if the rate did. */
bool swarm_send_pieces(struct swarm *w, struct swarm_sensor *s, unsigned int max, uint64_t now);
void swarm_acked(struct swarm *w, struct swarm_sensor *s, const struct ack *a, uint64_t now);
/* All that is not taken is due again: nothing was acknowledged for long, or the session is new. */
void swarm_send_again(struct swarm *w, struct swarm_sensor *s);
void swarm_session_begun(struct swarm *w, struct swarm_sensor *s, uint64_t now);
bool swarm_all_sent(const struct swarm *w, const struct swarm_sensor *s);
void swarm_ready(struct swarm *w, struct swarm_sensor *s);

#endif
