/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spool: a log of combos in a file (--spool), for what memory cannot hold and for who comes after
 * us. Combos are appended in the order of their counts, and the oldest are let go of. Five
 * positions say where each of them is, from the oldest on:
 *
 *     floor      below it they are settled, or given up: passed by, and erased with their segment
 *     written    below it they are in the file
 *     handed     below it they are in a slot, of which there are SPOOL_SLOTS
 *     store.end  below it they are in memory too (deliver.h), from store.lowest on; those above
 *                come back as soon as there is room
 *     end        the next combo's
 *
 * floor <= store.end <= end, and written <= handed <= end. What is in memory only is handed over
 * when it is old, when memory runs short, or at once where no collector is in reach. A slot keeps
 * its combo until that is written, so nothing is lost in memory where the disk is full for a while.
 * What earlier processes have left is read by the same reader, one group of segments for each.
 *
 * A thread of its own reads and writes: the export thread never waits for a disk. What one of them
 * stores with release, the other loads with acquire:
 *
 *     export thread  floor, handed; then the slots below `handed` are not written to any more,
 *                    until `written` has passed them; stop
 *     spool thread   written, failing, full_until, used
 *     by turns       a reader: the spool thread's while it is SPOOL_WANTED; the totals: the spool
 *                    thread's while totals_len is not 0; info_next: while info_from is a count
 *     before both    key, head, path, session, groups (but for `done`, which the export thread
 * sets)
 *
 *     spool.c        what goes there and comes back       export thread
 *     forward.c      what earlier processes have left     export thread
 *     spool_begin.c  keys, and whose segments there are   before both
 *     spool_write.c  segments, records into them          spool thread
 *     spool_read.c   what is wanted out of them           spool thread
 *     spool_file.c   bytes in the file
 */
#ifndef AGENT_SPOOL_H
#define AGENT_SPOOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "deliver.h"
#include "session.h"
#include "spool_file.h"
#include "wire/totals.h"

#define SPOOL_SLOTS 8 /* a power of two */

struct spool_slot {
	struct spool_record r;
	uint8_t bytes[COMBO_WIRE_MAX];
};

/* SPOOL_NONE: what is wanted is not to be had, and never will be. */
enum spool_reader_state { SPOOL_IDLE, SPOOL_WANTED, SPOOL_READY, SPOOL_NONE };

/* Gives one record at a time. */
struct spool_reader {
	unsigned int state; /* enum spool_reader_state */
	uint32_t group;
	uint64_t want; /* of ours: this combo */
	struct spool_record r;
	uint8_t bytes[SPOOL_RECORD_MAX];
	int segment;	/* where the last one was; -1: nowhere yet */
	uint64_t order; /* segments below are behind us */
	uint64_t at, next;
};

/* Whose a segment is; groups of earlier processes have numbers from 1, as in session.h. */
#define SPOOL_OURS 0U
#define SPOOL_FREE UINT32_MAX
#define SPOOL_FOUND (UINT32_MAX - 1) /* it has no number yet */

struct spool_segment {
	uint32_t group;
	struct spool_head head;
	uint64_t end; /* the combos in it are below */
};

#define SPOOL_NO_INFO UINT64_MAX

struct spool {
	const char *path;
	struct spool_file file;
	struct session *session;
	pthread_t thread;
	int work_fd; /* eventfd: wakes the spool thread */
	uint8_t key[KEY_LEN];
	struct spool_head head;			     /* of our segments, but for order and stamp */
	struct session_spool groups[SPOOL_SEGMENTS]; /* of earlier processes, by age */
	unsigned int group_count;

	/* export thread */
	struct deliver *deliver; /* set behind spool_begin() */
	uint64_t floor, handed, end;
	uint64_t aged[2], aged_ns; /* combos below aged[0] are old */
	struct spool_slot slots[SPOOL_SLOTS];
	bool stop;

	/* by turns */
	struct spool_reader ours, old;
	uint32_t totals_len;
	uint64_t totals_count; /* behind the combos below it */
	uint8_t totals[TOTALS_WIRE_MAX];
	uint64_t info_from; /* combos from this one on are of another info; or SPOOL_NO_INFO */
	struct info_lasting info_next;

	/* spool thread; read by the export thread */
	uint64_t written;
	bool failing;	     /* it cannot write; where there is no room: */
	uint64_t full_until; /* there is, as soon as combos below are settled or given up; 0 */
	unsigned int used;   /* segments */

	/* spool thread */
	struct spool_segment segments[SPOOL_SEGMENTS];
	int writing; /* segment, -1: none */
	uint64_t write_at, order, retry_ns;
	struct info_lasting info; /* of what is written next */
	bool info_due;		  /* it is not in the present segment yet */

	/* The session's, set before spool_begin, and forward's: without a spool there are none. */
	struct info_lasting lasting, forwarded;
};

/* Before rights are given up, and the sandbox. Returns NULL after a line. */
struct spool *spool_open_file(const char *path, uint64_t bytes);
/* Makes keys, and finds what earlier processes have left: the session is told of it. Its run and
 * what lasts of its info are known, and `next` the count of its next combo. Returns 0, or -errno
 * after a line. */
int spool_begin(struct spool *s, struct session *session, uint64_t next);
/* Starts the thread. Returns 0 or -errno. */
int spool_start(struct spool *s);
/* Takes NULL. */
void spool_free(struct spool *s);

/* ---- export thread --------------------------------------------------------------------------- */

/* Keeps a combo, in memory or, where `spill`, in the file. Returns whether there was room. */
bool spool_keep(struct spool *s, const uint8_t *wire, size_t len, uint64_t first, uint32_t frames,
		bool spill);
/* Takes back what there is room for, hands over what is due. `up`: a collector is in reach. Returns
 * whether something was handed over. */
bool spool_turn(struct spool *s, bool up, uint64_t now_ns);
/* Notes the totals of now behind the combos, unless others wait to be written. */
void spool_totals(struct spool *s, const uint8_t *message, size_t len);
/* Whether nothing helps but to give the oldest up. */
bool spool_is_full(struct spool *s);
/* Whether all of the run is written, or settled. */
bool spool_is_whole(const struct spool *s);
/* Writes all that can be, the last totals where something stays in the file, and ends the thread.
 * Returns how many frames of `exported` are neither settled nor there; in `*stay` how many are
 * there. */
uint64_t spool_end(struct spool *s, uint64_t exported, const uint8_t *totals, size_t len,
		   uint64_t *stay);
/* The next record of an earlier process's group, or NULL where it is not there yet; SPOOL_NONE:
 * there is no more. Then the reader is to be made free. */
const struct spool_reader *spool_read_old(struct spool *s, uint32_t group);
void spool_read_done(struct spool_reader *r);

static inline uint64_t spool_written(const struct spool *s)
{
	return __atomic_load_n(&s->written, __ATOMIC_ACQUIRE);
}

/* Whether a combo is in the file, or is settled. Takes NULL, as the next one. */
static inline bool spool_has(const struct spool *s, uint64_t count)
{
	return s && count < spool_written(s);
}

static inline bool spool_works(const struct spool *s)
{
	return s && !__atomic_load_n(&s->failing, __ATOMIC_ACQUIRE);
}

/* ---- between the spool's own files: export thread -------------------------------------------- */

/* Where a combo's bytes go, or NULL: there is no room. Then it is handed over. */
uint8_t *spool_slot(struct spool *s, uint64_t count);
void spool_put(struct spool *s, uint64_t count, uint64_t first, uint32_t frames, uint32_t len);
/* Combos below are settled, or given up. */
void spool_settle(struct spool *s, uint64_t floor);
/* The combo `count`, of those in the file, as spool_read_old(); SPOOL_NONE: it is lost. */
const struct spool_reader *spool_read(struct spool *s, uint64_t count);
/* Ends the thread when all that can be is written. */
void spool_stop(struct spool *s);

/* ---- between the spool's own files: spool thread --------------------------------------------- */

/* The oldest segment of a group, from this order on, that has combos above `want`, or -1. */
int spool_oldest(const struct spool *s, uint32_t group, uint64_t from, uint64_t want);
/* Answers the export thread where it wants something. Returns whether it has. */
bool spool_answer(struct spool *s, struct spool_reader *r);
/* The reader begins anew with its group. For whose it is. */
void spool_rewind(struct spool_reader *r);
/* Returns 0 or -errno. */
int spool_write_record(struct spool *s, const struct spool_record *r);

#endif
