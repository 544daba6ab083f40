/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In flight: what of a session is under way, how long that takes, and how much may be.
 * Acknowledgement by number, loss by time and by what came later: in the spirit of RFC 9002 (QUIC),
 * but that many datagrams may be overtaken by others and that a fifth of them may be lost at random
 * without the rest being held up.
 *
 *     in_flight.c         what is under way, and what has become of it
 *     in_flight_window.c  how much may be
 */
#ifndef AGENT_EXPORT_IN_FLIGHT_H
#define AGENT_EXPORT_IN_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/message.h"

/* Datagrams that are remembered; a window is no more. A power of two. */
#define IN_FLIGHT_MAX 1024
#define IN_FLIGHT_RTO_MIN_NS 100000000ULL
#define IN_FLIGHT_RTO_MAX_NS 5000000000ULL
#define IN_FLIGHT_CWND_FIRST 16
#define IN_FLIGHT_CWND_MIN 4
#define IN_FLIGHT_RESERVE 4    /* numbers that are left for what is not a combo */
#define IN_FLIGHT_OVERTAKEN 64 /* by so many a datagram is not, as a rule */
/* To a path that takes as long, a round is spread over it. */
#define IN_FLIGHT_PACED_NS 2000000ULL
#define IN_FLIGHT_BURST 16
#define IN_FLIGHT_OTHER 0xff /* `piece` of what is not a combo's: it is not sent again */

enum { IN_FLIGHT_NONE, IN_FLIGHT_UNDER_WAY, IN_FLIGHT_ACKED, IN_FLIGHT_LOST };

struct in_flight_sent {
	uint64_t sent_ns;
	uint32_t combo; /* the count's low 32 bits */
	uint8_t piece, epoch;
	uint8_t state;	    /* FLIGHT_ */
	bool is_big : 1;    /* more than SHROUD_DATAGRAM_PADDED bytes */
	bool timed_out : 1; /* lost because nothing came for long */
};
_Static_assert(sizeof(struct in_flight_sent) == 16, "there are many");

/* What has become of a datagram: IN_FLIGHT_ACKED or IN_FLIGHT_LOST; a lost one may be acked later.
 */
typedef void in_flight_told(void *context, const struct in_flight_sent *d);

struct in_flight {
	uint32_t window;
	uint32_t slots;	    /* of `sent` that are used: SHROUD_BEHIND and half a window at least */
	uint64_t next;	    /* number of the next datagram */
	uint64_t oldest;    /* none below is under way */
	uint64_t highest;   /* acknowledged */
	uint64_t last_lost; /* the highest number that was said to be lost */
	uint32_t under_way, under_way_other;   /* combos' pieces; others */
	uint64_t srtt_ns, rttvar_ns, least_ns; /* 0: not measured yet */
	uint64_t overtaken_ns; /* how much later than expected datagrams have come after all */
	uint64_t progress_ns;  /* when something was acknowledged that was not */
	uint64_t probed_ns;    /* when an answer was asked for, and how often since progress */
	unsigned int probes;
	unsigned int timeouts;	  /* without an answer */
	uint32_t cwnd, threshold; /* datagrams */
	uint32_t credit;	  /* of growth above the threshold */
	uint64_t round_end;
	uint32_t round_ended, round_lost; /* what became of datagrams since the last judgement */
	bool limited;	   /* the congestion window was in the way since it last grew */
	uint64_t paced_ns; /* when pacing was last arithmetic */
	uint64_t paced;	   /* datagrams that may go at once, in 1/1024 */
	struct in_flight_sent sent[IN_FLIGHT_MAX];
};

/* A session begins; round-trip times stay as the first guess. */
void in_flight_reset(struct in_flight *f, uint32_t window, uint64_t now_ns);
/* How many datagrams the collector can know the addresses of now. */
uint64_t in_flight_numbers_left(const struct in_flight *f);
/* How many pieces may be sent now. */
uint32_t in_flight_may_send(struct in_flight *f, uint64_t now_ns);
/* Datagram `next` is being sent. */
void in_flight_send(struct in_flight *f, const struct in_flight_sent *d);
/* An acknowledgement. Returns 0, or -1 for one of what was never sent. */
int in_flight_ack(struct in_flight *f, const struct ack *a, uint64_t now_ns, in_flight_told *told,
		  void *context);
/* Looks for what has been under way for too long. */
void in_flight_expire(struct in_flight *f, uint64_t now_ns, in_flight_told *told, void *context);
/* All is lost that is under way, and not for being too much. */
void in_flight_lose_all(struct in_flight *f, in_flight_told *told, void *context);
/* When to look again; UINT64_MAX: nothing is under way. */
uint64_t in_flight_due_ns(const struct in_flight *f);
/* When an answer had better be asked for: the last one may have been lost, and with it nothing else
 * (TCP's tail loss probe, RFC 8985, section 7). UINT64_MAX: nothing is under way. */
uint64_t in_flight_probe_ns(const struct in_flight *f);
void in_flight_probed(struct in_flight *f, uint64_t now_ns);
/* When pacing lets the next ones go. */
uint64_t in_flight_paced_ns(const struct in_flight *f);
/* Of one timeout, doubled for each that was not answered. */
uint64_t in_flight_rto_ns(const struct in_flight *f);

/* ---- in_flight_window.c, for in_flight.c -------------------------------------------------- */

void in_flight_window_begin(struct in_flight *f, uint64_t now_ns);
/* A piece goes out. */
void in_flight_pace(struct in_flight *f);
/* One was acknowledged. Slow start up to the threshold, then some more each round; but only what
 * was used grows. */
void in_flight_grow(struct in_flight *f);
/* After an acknowledgement. At the end of a round: where more than a quarter was lost, and that of
 * enough to tell it from bad luck (several rounds, if need be), that was no accident. */
void in_flight_turn_round(struct in_flight *f);
/* Nothing is answered: a little at a time. */
void in_flight_begin_anew(struct in_flight *f);

#endif
