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
 *     spool thread   written, stuck_until, used
 *     by turns       a reader belongs to the spool thread while it is SPOOL_WANTED; `totals` and
 *                    `change`, with their bytes, while their len is not 0
 *     before both    key, head, path, session, groups (the export thread sets their `done`)
 *
 *     spool.c         hands combos over, takes them back   export thread
 *     forward.c       sends earlier processes' records     export thread
 *     spool_begin.c   keys, and the segments' owners       before both
 *     spool_thread.c  decides what is written and read     spool thread
 *     spool_log.c     segments, and records in order       spool thread
 *     spool_file.c    the file's format
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

/* Returns one record at a time. All zeros: at its group's beginning. */
struct spool_reader {
	unsigned int state; /* enum spool_reader_state */
	uint32_t group;
	uint64_t want; /* combos below are skipped */
	struct spool_record r;
	uint8_t bytes[SPOOL_RECORD_MAX];
	uint64_t order; /* segments below were begun; 0: none yet */
	unsigned int segment;
	uint64_t at; /* in `segment` */
};

/* A segment's owner; groups of earlier processes have numbers from 1, as in session.h. */
#define SPOOL_OURS 0U
#define SPOOL_FREE UINT32_MAX
#define SPOOL_FOUND (UINT32_MAX - 1) /* it has no number yet */
#define SPOOL_ANY (UINT32_MAX - 2)

struct spool_segment {
	uint32_t group;
	struct spool_head head;
	uint64_t end; /* its combos are below this; not ours: UINT64_MAX */
};

/* Writing works, or fails until combos below this count are settled or dropped, or fails for
 * another reason. */
#define SPOOL_WORKS 0
#define SPOOL_FAILS UINT64_MAX

struct spool {
	const char *path;
	struct spool_file file;
	struct session *session;
	pthread_t thread;
	int work_fd; /* eventfd: wakes the spool thread */
	uint8_t key[KEY_LEN];
	struct spool_head head;	     /* of our segments, without order and stamp */
	struct spool_head head_next; /* for later ones; the session's lock */
	bool head_changed;
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
	struct spool_record totals, change; /* written before combo `count`; len 0: none */
	uint8_t totals_bytes[TOTALS_WIRE_MAX];
	struct info_lasting info_next; /* of `change` */

	/* spool thread; read by the export thread */
	uint64_t written;
	uint64_t stuck_until; /* a count, SPOOL_WORKS or SPOOL_FAILS */
	unsigned int used;    /* segments */

	/* spool thread */
	struct spool_segment segments[SPOOL_SEGMENTS];
	int writing; /* segment, -1: none */
	uint64_t write_at, order, retry_ns;
	struct info_lasting info; /* of the last written combo */
	uint8_t sealed[SPOOL_RECORD_MAX];

	struct info_lasting lasting; /* the session's, set before spool_begin */
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
/* Writes what it can, with the last totals if combos stay in the file, and ends the thread. Returns
 * how many frames of `exported` are neither settled nor in the file. `*stay`: frames in the
 * file. */
uint64_t spool_end(struct spool *s, uint64_t exported, const uint8_t *totals, size_t len,
		   uint64_t *stay);
/* Returns a group's next record, or NULL if it is not read yet; for our own: combo `want`.
 * SPOOL_NONE: no more, or the combo is lost. Then free the reader. */
const struct spool_reader *spool_read(struct spool *s, struct spool_reader *r, uint32_t group,
				      uint64_t want);
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
	return s && __atomic_load_n(&s->stuck_until, __ATOMIC_ACQUIRE) == SPOOL_WORKS;
}

/* Whether all of the run is written, or settled. */
static inline bool spool_is_whole(const struct spool *s)
{
	return spool_written(s) >= s->end || s->deliver->store.lowest == s->end;
}

/* ---- between the spool's own files: export thread -------------------------------------------- */

/* Returns the place for a combo's bytes, or NULL without room. Then hand it over. */
uint8_t *spool_slot(struct spool *s, uint64_t count);
void spool_put(struct spool *s, uint64_t count, uint64_t first, uint32_t frames, uint32_t len);
/* Combos below are settled, or dropped. */
void spool_settle(struct spool *s, uint64_t floor);
/* Ends the thread when it has written what it can. */
void spool_stop(struct spool *s);

/* ---- between the spool's own files: spool thread --------------------------------------------- */

/* Returns a group's oldest segment, from this order on, with combos above `want`, or -1. */
int spool_oldest(const struct spool *s, uint32_t group, uint64_t from, uint64_t want);
void spool_free_settled(struct spool *s);
/* Appends a record, and seals a combo. Returns 0 or -errno; -EDQUOT: our own combos have all
 * segments. */
int spool_append(struct spool *s, const struct spool_record *r);
/* Reads a group's next record, without combos below `want`, which is then above the record's count.
 * Returns 0 or -ENOENT. */
int spool_next(struct spool *s, struct spool_reader *r);

#endif
