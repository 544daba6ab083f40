/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deliver: sends combos from the store to the collector until they are settled. Lost pieces are
 * sealed and sent again. In a new session, all combos that the collector lacks are sent again. Only
 * for the export thread.
 *
 *     deliver.c          the stored combos, sessions, and the time of the next work
 *     deliver_send.c     cuts combos into pieces, seals and sends them
 *     deliver_receive.c  handles ACKs, and finds the datagrams' size
 *     in_flight.c        datagrams in flight, and their limit
 *     one_way.c          --one-way: settles combos without ACKs
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

struct deliver;

/* How combos are settled: by the collector's ACKs, or one-way as soon as they are sent
 * (one_way.h). */
struct deliver_ops {
	/* A new session has begun. NULL: nothing to do. */
	void (*begin)(struct deliver *d, uint64_t now_ns);
	/* Returns how many pieces may be sent now. */
	uint32_t (*may_send)(struct deliver *d, uint64_t now_ns);
	/* So many pieces were sent; `d->too_big` still says whether the kernel refused one as too
	 * big. NULL: nothing to do. */
	void (*sent)(struct deliver *d, uint32_t pieces, uint64_t now_ns);
	/* Passes ACKs to deliver_ack(). Returns whether the collector has sent one. */
	bool (*receive)(struct deliver *d, uint64_t now_ns);
	/* Returns when to ask the collector for an ACK; UINT64_MAX: never. The thread wakes up
	 * then: one-way, this time is always later than `now_ns`, and only lets it send on. */
	uint64_t (*ask_ns)(const struct deliver *d, uint64_t now_ns);
};

struct deliver {
	const struct deliver_ops *ops;
	struct session *session;
	struct saluki_exported *counters; /* datagrams and sent_bytes are counted there */
	struct session_path path;
	struct store store;
	uint64_t taken, held; /* as the collector reports in this session */
	bool whole;	      /* combo `taken` is complete too, and waits to be written */
	bool full;	      /* the collector drops pieces for lack of memory */
	uint64_t settled;
	uint64_t unsent;       /* the first combo not completely sent in this session */
	uint64_t resend;       /* no combo below it has pieces to send again */
	uint64_t check_ns;     /* time to look for combos that the collector did not keep */
	unsigned int checks;   /* without success: it has no room */
	uint64_t asked_ns;     /* last request for an ACK */
	unsigned int asked;    /* requests without an answer */
	uint64_t progress_ns;  /* time of the last settled combo */
	uint64_t final_number; /* datagram of this session's first final totals; 0: none */
	bool final;	       /* they are confirmed */
	size_t datagram_len;   /* largest datagram that the path takes */
	unsigned int big_lost, small_acked; /* since a big datagram was acknowledged */
	uint64_t big_lost_ns;	  /* when the last of these was sent: later small ones count */
	bool big_acked;		  /* a big one was acknowledged in this session */
	bool too_big;		  /* the kernel refused one, not handled yet */
	unsigned int pieces_lost; /* in a row, while other messages came through */
	unsigned int pauses;	  /* consecutive pauses without a piece that came through */
	uint64_t pause_ends_ns;
	bool told_pause;
	bool opaque; /* the store has a spool's records: forward.h */
	bool waits;  /* no piece is sent until the message before them was received */
	bool floor_due;
	uint64_t floor_ns; /* when it was last sent */
	__u64 kept_first;  /* frames of the run before the lowest stored combo; read by any */
	uint64_t given_up; /* frames of dropped, unsettled combos; read by any */
	/* Large; used from its beginning on. */
	struct in_flight flight;
	struct session_send pieces;
};

/* Combos are settled by ACKs, unless `d->ops` was set before. Returns 0 or -ENOMEM. */
int deliver_init(struct deliver *d, struct session *s, struct saluki_exported *counters,
		 size_t store_bytes);
void deliver_free(struct deliver *d);
/* Sets the next combo's count, and the frames of the run before it. */
void deliver_start(struct deliver *d, uint64_t count, uint64_t first);

/* Whether there is a session. In a new one, everything starts again. */
bool deliver_session(struct deliver *d, uint64_t now_ns);
/* Handles the collector's messages and overdue datagrams. */
void deliver_receive(struct deliver *d, uint64_t now_ns);
/* Stores a combo until it is settled. Returns whether there was room. */
bool deliver_put(struct deliver *d, const uint8_t *wire, size_t len, uint64_t first,
		 uint32_t frames);
/* Sends what may be sent now. */
void deliver_send(struct deliver *d, uint64_t now_ns);
/* Sends a message other than a piece. Returns its number, or 0 if it must wait. */
uint64_t deliver_message(struct deliver *d, const uint8_t *message, size_t len, uint64_t now_ns);
/* Sends FLOOR, if it has an effect. */
void deliver_floor(struct deliver *d, uint64_t now_ns);
/* Drop the oldest combo; remove the newest, as if it had never been stored. */
void deliver_drop_oldest(struct deliver *d);
void deliver_take_back(struct deliver *d);
/* Returns whether an answer may have been lost, and counts that as a request: the caller sends a
 * message, which the collector answers. */
bool deliver_ask(struct deliver *d, uint64_t now_ns);
/* Returns milliseconds until the next work, at most `most`. */
int deliver_wait_ms(const struct deliver *d, uint64_t now_ns, int most);

/* Whether a combo was completely sent in this session, or is settled. */
static inline bool deliver_has_sent(const struct deliver *d, uint64_t count)
{
	return count < d->unsent || count < d->store.lowest;
}

/* ---- between deliver's own files ------------------------------------------------------------- */

/* Removes combos below `count` from the store. */
void deliver_keep_from(struct deliver *d, uint64_t count);
/* Cuts a combo into pieces again: all of it is pending. */
void deliver_cut(struct deliver *d, struct store_combo *c);
/* Reduces the datagrams' size: the path does not take these. */
void deliver_take_smaller(struct deliver *d, uint64_t now_ns);
/* Cuts all unsettled combos into pieces again: old datagrams' fates no longer count. */
void deliver_cut_anew(struct deliver *d);
/* Takes all ACKs of the session. Returns whether there was one. */
bool deliver_receive_acks(struct deliver *d, uint64_t now_ns);
/* Handles one ACK. */
void deliver_ack(struct deliver *d, const struct ack *a, uint64_t now_ns);

static inline uint32_t deliver_all_pieces(const struct store_combo *c)
{
	return (1ULL << c->pieces) - 1;
}

static inline bool deliver_is_whole(const struct store_combo *c)
{
	return c->cut && c->acked == deliver_all_pieces(c);
}

#endif
