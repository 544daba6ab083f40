/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spool: a log of combos in a file (--spool), for combos that do not fit in memory and for the next
 * agent. Combos are appended in the order of their counts, and the oldest are dropped. Five
 * positions tell where a combo is, from the oldest on:
 *
 *     floor      below: settled or dropped; skipped, and erased with their segment
 *     written    below: in the file
 *     handed     below: in one of SPOOL_SLOTS slots
 *     store.end  below: in memory too (deliver.h), from store.lowest on; those above come back as
 *                soon as there is room
 *     end        the next combo's count
 *
 * floor <= store.end <= end, and written <= handed <= end. A combo in memory is handed over when it
 * is old, when memory is short, or at once without a collector. A slot keeps its combo until it is
 * written, so a full disk loses no combo. The same reader reads earlier processes' records, one
 * group of segments per process.
 *
 * The spool thread reads and writes, so the export thread never waits for a disk. Each loads with
 * acquire what the other stores with release:
 *
 *     export thread  floor, handed, stop; slots below `handed` stay unchanged until `written` has
 *                    passed them
 *     spool thread   written, failing, full_until, used
 *     by turns       a reader belongs to the spool thread while it is SPOOL_WANTED; the totals do
 *                    while totals_len is not 0; info_next does while info_from is a count
 *     before both    key, head, path, session, groups (the export thread sets their `done`)
 *
 *     spool.c        hands combos over, takes them back   export thread
 *     forward.c      sends earlier processes' records     export thread
 *     spool_begin.c  keys, and the segments' owners       before both
 *     spool_write.c  writes records into segments         spool thread
 *     spool_read.c   reads requested records              spool thread
 *     spool_file.c   the file's format
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

/* SPOOL_NONE: the requested record does not exist and never will. */
enum spool_reader_state { SPOOL_IDLE, SPOOL_WANTED, SPOOL_READY, SPOOL_NONE };

/* Returns one record at a time. */
struct spool_reader {
	unsigned int state; /* enum spool_reader_state */
	uint32_t group;
	uint64_t want; /* for our own: this combo */
	struct spool_record r;
	uint8_t bytes[SPOOL_RECORD_MAX];
	int segment;	/* of the last record; -1: none yet */
	uint64_t order; /* segments below are done */
	uint64_t at, next;
};

/* A segment's owner; groups of earlier processes have numbers from 1, as in session.h. */
#define SPOOL_OURS 0U
#define SPOOL_FREE UINT32_MAX
#define SPOOL_FOUND (UINT32_MAX - 1) /* it has no number yet */

struct spool_segment {
	uint32_t group;
	struct spool_head head;
	uint64_t end; /* its combos are below this */
};

#define SPOOL_NO_INFO UINT64_MAX

struct spool {
	const char *path;
	struct spool_file file;
	struct session *session;
	pthread_t thread;
	int work_fd; /* eventfd: wakes the spool thread */
	uint8_t key[KEY_LEN];
	struct spool_head head;			     /* of our segments, without order and stamp */
	struct session_spool groups[SPOOL_SEGMENTS]; /* of earlier processes, by age */
	unsigned int group_count;

	/* export thread */
	struct deliver *deliver; /* set before spool_start() */
	uint64_t floor, handed, end;
	uint64_t aged[2], aged_ns; /* combos below aged[0] are old */
	struct spool_slot slots[SPOOL_SLOTS];
	bool stop;

	/* by turns */
	struct spool_reader ours, old;
	uint32_t totals_len;
	uint64_t totals_count; /* after the combos below it */
	uint8_t totals[TOTALS_WIRE_MAX];
	uint64_t info_from; /* combos from this one on have another info; or SPOOL_NO_INFO */
	struct info_lasting info_next;

	/* spool thread; read by the export thread */
	uint64_t written;
	bool failing;	     /* writing fails; if for lack of room: */
	uint64_t full_until; /* room as soon as combos below are settled or dropped; else 0 */
	unsigned int used;   /* segments */

	/* spool thread */
	struct spool_segment segments[SPOOL_SEGMENTS];
	int writing; /* segment, -1: none */
	uint64_t write_at, order, retry_ns;
	struct info_lasting info; /* of the next written combo */
	bool info_due;		  /* the current segment lacks it */

	/* Those of the session, set before spool_begin, and of forward.c. Needed only with a
	 * spool. */
	struct info_lasting lasting, forwarded;
};

/* Call it before privilege is dropped, and before the sandbox. Returns NULL after a line. */
struct spool *spool_open_file(const char *path, uint64_t bytes);
/* Makes keys, finds records of earlier processes, and adds them to the session. The session's run
 * and lasting info are set. `next`: count of its next combo. Returns 0, or -errno after a line. */
int spool_begin(struct spool *s, struct session *session, uint64_t next);
/* Starts the thread. Returns 0 or -errno. */
int spool_start(struct spool *s);
/* Accepts NULL. */
void spool_free(struct spool *s);

/* ---- export thread --------------------------------------------------------------------------- */

/* Stores a combo, in memory or, with `spill`, in the file. Returns whether there was room. */
bool spool_keep(struct spool *s, const uint8_t *wire, size_t len, uint64_t first, uint32_t frames,
		bool spill);
/* Takes combos back as far as there is room, and hands over due ones. `up`: there is a session.
 * Returns whether one was handed over. */
bool spool_turn(struct spool *s, bool up, uint64_t now_ns);
/* Notes the current totals after the combos, unless others wait to be written. */
void spool_totals(struct spool *s, const uint8_t *message, size_t len);
/* Whether only dropping the oldest combo helps. */
bool spool_is_full(struct spool *s);
/* Whether all of the run is written, or settled. */
bool spool_is_whole(const struct spool *s);
/* Writes what it can, with the last totals if combos stay in the file, and ends the thread. Returns
 * how many frames of `exported` are neither settled nor in the file. `*stay`: frames in the
 * file. */
uint64_t spool_end(struct spool *s, uint64_t exported, const uint8_t *totals, size_t len,
		   uint64_t *stay);
/* Returns the next record of an earlier process's group, or NULL if it is not read yet; SPOOL_NONE:
 * no more. Then free the reader. */
const struct spool_reader *spool_read_old(struct spool *s, uint32_t group);
void spool_read_done(struct spool_reader *r);

static inline uint64_t spool_written(const struct spool *s)
{
	return __atomic_load_n(&s->written, __ATOMIC_ACQUIRE);
}

/* Whether a combo is in the file, or is settled. Accepts NULL, as does the next one. */
static inline bool spool_has(const struct spool *s, uint64_t count)
{
	return s && count < spool_written(s);
}

static inline bool spool_works(const struct spool *s)
{
	return s && !__atomic_load_n(&s->failing, __ATOMIC_ACQUIRE);
}

/* ---- between the spool's own files: export thread -------------------------------------------- */

/* Returns the place for a combo's bytes, or NULL without room. Then hand it over. */
uint8_t *spool_slot(struct spool *s, uint64_t count);
void spool_put(struct spool *s, uint64_t count, uint64_t first, uint32_t frames, uint32_t len);
/* Combos below are settled, or dropped. */
void spool_settle(struct spool *s, uint64_t floor);
/* Returns combo `count` from the file, as spool_read_old(); SPOOL_NONE: it is lost. */
const struct spool_reader *spool_read(struct spool *s, uint64_t count);
/* Ends the thread when it has written what it can. */
void spool_stop(struct spool *s);

/* ---- between the spool's own files: spool thread --------------------------------------------- */

/* Returns a group's oldest segment, from this order on, with combos above `want`, or -1. */
int spool_oldest(const struct spool *s, uint32_t group, uint64_t from, uint64_t want);
/* Answers the export thread's request. Returns whether there was one. */
bool spool_answer(struct spool *s, struct spool_reader *r);
/* Restarts a reader at its group's beginning. For its owner. */
void spool_rewind(struct spool_reader *r);
/* Returns 0 or -errno. */
int spool_write_record(struct spool *s, const struct spool_record *r);

#endif
