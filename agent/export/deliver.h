/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deliver: combos from the store to the collector, each until it is settled. What is lost is sealed
 * anew and sent again; in another session everything is that the collector does not have. Used by
 * the export thread alone.
 *
 *     deliver.c          what is kept, sessions, and when there is something to do
 *     deliver_send.c     combos are cut, sealed and sent
 *     deliver_receive.c  ACKs, and what the path takes
 *     in_flight.c        what is under way, and how much may be
 */
#ifndef AGENT_DELIVER_H
#define AGENT_DELIVER_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include <saluki/record.h>

#include "in_flight.h"
#include "session_send.h"
#include "session.h"
#include "store.h"

struct deliver {
	struct session *session;
	struct saluki_exported *counters; /* datagrams and sent_bytes are counted there */
	struct session_path path;
	struct store store;
	uint64_t taken, held; /* as the collector says in this session */
	bool whole;	      /* combo `taken` is there too, and waits to be written */
	bool full;	      /* pieces are lost because the collector has no memory for them */
	uint64_t settled;
	uint64_t unsent;       /* the first combo of which not all was sent in this session */
	uint64_t resend;       /* none below has anything to be sent again */
	uint64_t check_ns;     /* when to look for combos that the collector did not keep */
	unsigned int checks;   /* in vain: it has no room */
	uint64_t asked_ns;     /* when the collector was asked what it has settled */
	unsigned int asked;    /* so often, in vain */
	uint64_t progress_ns;  /* when something was settled */
	uint64_t final_number; /* datagram of the first final totals of this session; 0: none */
	bool final;	       /* they are confirmed */
	size_t datagram_len;   /* bytes at most, as far as the path takes them */
	unsigned int big_lost, small_acked; /* since a big datagram was acked */
	uint64_t big_lost_ns;	  /* when the last of these was sent: small ones behind it count */
	bool big_acked;		  /* one was, in this session */
	bool too_big;		  /* the kernel has said so of one, and it is not seen to yet */
	unsigned int pieces_lost; /* in a row, while others came through */
	unsigned int pauses;	  /* one after the other: none of a few pieces came through */
	uint64_t pause_ends_ns;
	bool told_pause;
	bool opaque; /* what is kept are records of a spool: forward.h */
	bool waits;  /* no piece is sent: what goes ahead of them has not been received */
	bool floor_due;
	uint64_t floor_ns; /* when it was last sent */
	__u64 kept_first;  /* frames of the run before the lowest combo kept; read by any */
	uint64_t given_up; /* frames of combos that were dropped unsettled; read by any */
	struct {
		uint64_t filled_ns, credit_ns; /* pacing */
		uint64_t limit;		       /* no number from here on may be sent */
		uint64_t finals_from;	       /* number of the first behind which all was sent */
	} one_way;
	/* Large, and used from the beginning on. */
	struct in_flight flight;
	struct session_send pieces;
};

/* Returns 0 or -ENOMEM. */
int deliver_init(struct deliver *d, struct session *s, struct saluki_exported *counters,
		 size_t store_bytes);
void deliver_free(struct deliver *d);
/* The next combo has this count, and so many frames of the run are before it. */
void deliver_start(struct deliver *d, uint64_t count, uint64_t first);

/* Whether there is a session; where it is a new one, all begins anew. */
bool deliver_session(struct deliver *d, uint64_t now_ns);
/* Hears what the collector has said, and sees to what is late. */
void deliver_receive(struct deliver *d, uint64_t now_ns);
/* Keeps a combo until it is settled. Returns whether there was room. */
bool deliver_put(struct deliver *d, const uint8_t *wire, size_t len, uint64_t first,
		 uint32_t frames);
/* Sends what may go now. */
void deliver_send(struct deliver *d, uint64_t now_ns);
/* Sends a message that is not of a combo. Returns its number, 0 where it has to wait. */
uint64_t deliver_message(struct deliver *d, const uint8_t *message, size_t len, uint64_t now_ns);
/* FLOOR, where that has an effect. */
void deliver_floor(struct deliver *d, uint64_t now_ns);
/* Gives the oldest combo up, and the newest, as if it had never been there. */
void deliver_drop_oldest(struct deliver *d);
void deliver_take_back(struct deliver *d);
/* When the collector had better be asked for an answer, as one may have been lost; and it is being
 * asked. */
uint64_t deliver_ask_ns(const struct deliver *d);
void deliver_asked(struct deliver *d, uint64_t now_ns);
/* Milliseconds until there is something to do, `most` at most. */
int deliver_wait_ms(const struct deliver *d, uint64_t now_ns, int most);

/* Whether all of a combo was sent in this session, or it is settled. */
static inline bool deliver_has_sent(const struct deliver *d, uint64_t count)
{
	return count < d->unsent || count < d->store.lowest;
}

/* ---- between deliver's own files ------------------------------------------------------------- */

/* Combos below `count` are not kept any more. */
void deliver_keep_from(struct deliver *d, uint64_t count);
/* Cuts a combo anew: all of it is pending. */
void deliver_cut(struct deliver *d, struct store_combo *c);
/* The path takes no datagrams as large as these. */
void deliver_take_smaller(struct deliver *d, uint64_t now_ns);
/* Of what nobody will acknowledge, all that was sent is done with. */
void deliver_receive_nothing(struct deliver *d, uint64_t now_ns);

static inline uint32_t deliver_all_pieces(const struct store_combo *c)
{
	return (1ULL << c->pieces) - 1;
}

static inline bool deliver_is_whole(const struct store_combo *c)
{
	return c->cut && c->acked == deliver_all_pieces(c);
}

#endif
