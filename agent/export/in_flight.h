/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In flight: a session's datagrams in flight, their times, and their limit. Datagrams are
 * acknowledged by number; losses are found by time and by later datagrams. As in RFC 9002 (QUIC),
 * but many datagrams may be reordered, and a fifth may be lost at random, without slowing the rest.
 *
 *     in_flight.c         datagrams in flight, and their fate
 *     in_flight_window.c  their limit
 */
#ifndef AGENT_EXPORT_IN_FLIGHT_H
#define AGENT_EXPORT_IN_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/message.h"

/* Datagrams that are remembered, the largest window. A power of two. */
#define IN_FLIGHT_MAX 1024
#define IN_FLIGHT_RTO_MIN_NS 100000000ULL
#define IN_FLIGHT_RTO_MAX_NS 5000000000ULL
#define IN_FLIGHT_CWND_FIRST 16
#define IN_FLIGHT_CWND_MIN 4
#define IN_FLIGHT_RESERVE 4    /* numbers reserved for other messages than pieces */
#define IN_FLIGHT_OVERTAKEN 64 /* reordering by more than this is rare */
/* A round is spread over the round-trip time, from this time on. */
#define IN_FLIGHT_PACED_NS 2000000ULL
#define IN_FLIGHT_BURST 16
#define IN_FLIGHT_OTHER 0xff /* `piece` of other messages, which are not sent again */

enum { IN_FLIGHT_NONE, IN_FLIGHT_UNDER_WAY, IN_FLIGHT_ACKED, IN_FLIGHT_LOST };

struct in_flight_sent {
	uint64_t sent_ns;
	uint32_t combo; /* low 32 bits of the count */
	uint8_t piece, epoch;
	uint8_t state;	    /* FLIGHT_ */
	bool is_big : 1;    /* more than SHROUD_DATAGRAM_PADDED bytes */
	bool timed_out : 1; /* lost by a timeout */
};
_Static_assert(sizeof(struct in_flight_sent) == 16, "there are many");

/* A datagram's fate: IN_FLIGHT_ACKED or IN_FLIGHT_LOST; a lost one may be acknowledged later.
 */
typedef void in_flight_told(void *context, const struct in_flight_sent *d);

struct in_flight {
	uint32_t window;
	uint32_t slots;	    /* used part of `sent`: at least SHROUD_BEHIND and half a window */
	uint64_t next;	    /* number of the next datagram */
	uint64_t oldest;    /* none below is in flight */
	uint64_t highest;   /* highest acknowledged number */
	uint64_t last_lost; /* highest number reported as lost */
	uint32_t under_way, under_way_other;   /* pieces in flight; other messages */
	uint64_t srtt_ns, rttvar_ns, least_ns; /* 0: not measured yet */
	uint64_t overtaken_ns;		       /* how late datagrams arrived that seemed lost */
	uint64_t progress_ns;		       /* time of the last new acknowledgement */
	uint64_t probed_ns; /* time of the last probe, and probes since progress */
	unsigned int probes;
	unsigned int timeouts;	  /* without an answer */
	uint32_t cwnd, threshold; /* datagrams */
	uint32_t credit;	  /* of growth above the threshold */
	uint64_t round_end;
	uint32_t round_ended, round_lost; /* datagrams finished and lost since the last decision */
	bool limited;	   /* the congestion window limited sending since it last grew */
	uint64_t paced_ns; /* last update of pacing */
	uint64_t paced;	   /* datagrams that may be sent now, in 1/1024 */
	struct in_flight_sent sent[IN_FLIGHT_MAX];
};

/* A session begins. Round-trip times stay as the first estimate. */
void in_flight_reset(struct in_flight *f, uint32_t window, uint64_t now_ns);
/* Returns for how many more datagrams the collector can know the addresses. */
uint64_t in_flight_numbers_left(const struct in_flight *f);
/* Returns how many pieces may be sent now. */
uint32_t in_flight_may_send(struct in_flight *f, uint64_t now_ns);
/* Notes that datagram `next` is being sent. */
void in_flight_send(struct in_flight *f, const struct in_flight_sent *d);
/* Takes an acknowledgement. Returns 0, or -1 if it names a datagram never sent. */
int in_flight_ack(struct in_flight *f, const struct ack *a, uint64_t now_ns, in_flight_told *told,
		  void *context);
/* Finds overdue datagrams. */
void in_flight_expire(struct in_flight *f, uint64_t now_ns, in_flight_told *told, void *context);
/* All datagrams in flight are lost, for another reason than congestion. */
void in_flight_lose_all(struct in_flight *f, in_flight_told *told, void *context);
/* Returns when to look again; UINT64_MAX: none in flight. */
uint64_t in_flight_due_ns(const struct in_flight *f);
/* Returns when to ask for an answer, as only the last datagram may be lost (TCP's tail loss probe,
 * RFC 8985, section 7). UINT64_MAX: none in flight. */
uint64_t in_flight_probe_ns(const struct in_flight *f);
void in_flight_probed(struct in_flight *f, uint64_t now_ns);
/* Returns when pacing allows the next datagrams. */
uint64_t in_flight_paced_ns(const struct in_flight *f);
/* Returns the timeout, doubled for each unanswered one. */
uint64_t in_flight_rto_ns(const struct in_flight *f);

/* ---- in_flight_window.c, for in_flight.c -------------------------------------------------- */

void in_flight_window_begin(struct in_flight *f, uint64_t now_ns);
/* A piece is sent. */
void in_flight_pace(struct in_flight *f);
/* One was acknowledged. Slow start up to the threshold, then linear growth; the window grows only
 * if it was used. */
void in_flight_grow(struct in_flight *f);
/* After an acknowledgement, at the end of a round: if more than a quarter was lost, of enough
 * datagrams to exclude chance (several rounds if necessary), it is congestion. */
void in_flight_turn_round(struct in_flight *f);
/* No answers: little at a time. */
void in_flight_begin_anew(struct in_flight *f);

#endif
