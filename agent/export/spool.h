/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spool: combos in a file (--spool), for what memory cannot hold and for who comes after us. A
 * thread of its own reads and writes: the export thread leaves it a few combos at a time, and asks
 * it for the next one, and never waits for a disk.
 *
 *     spool_policy.c  what goes there and comes back    export thread
 *     forward.c       what earlier processes have left  export thread
 *     spool.c         keys, slots, the thread           both
 *     spool_write.c   segments, and slots into them     spool thread
 *     spool_read.c    what is wanted out of them        spool thread
 *     spool_file.c    bytes in the file
 */
#ifndef AGENT_SPOOL_H
#define AGENT_SPOOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "session.h"
#include "spool_file.h"
#include "wire/totals.h"

#define SPOOL_SLOTS 8 /* a power of two */

struct spool_slot { /* from the export thread; SPOOL_INFO has a length and bytes only */
	uint8_t kind;
	uint64_t count, first;
	uint32_t frames, len;
	uint8_t bytes[COMBO_WIRE_MAX];
};

enum spool_state { SPOOL_IDLE, SPOOL_WANTED, SPOOL_READY, SPOOL_END, SPOOL_LOST };

struct spool_reader {	    /* to the export thread, one record at a time */
	unsigned int state; /* enum spool_state; the thread's while it is SPOOL_WANTED */
	uint64_t want;	    /* count; or the group */
	struct spool_record r;
	uint8_t bytes[SPOOL_RECORD_MAX];
	int segment; /* where the last one was; -1: nowhere yet */
	uint64_t group, at, order, last;
};

enum { SEGMENT_FREE, SEGMENT_OURS, SEGMENT_OLD };

struct spool_segment {
	int use;
	struct spool_head head;
	uint64_t first, last; /* counts; ours */
	unsigned int group;   /* of an earlier process */
};

struct spool {
	const char *path;
	struct spool_file file;
	struct session *session;
	pthread_t thread;
	int work_fd;
	uint8_t key[KEY_LEN];
	struct spool_head head; /* of our segments, but for order and stamp */

	/* export thread; read by the other */
	unsigned int put, taken; /* slots; `taken` is the spool thread's */
	struct spool_slot slots[SPOOL_SLOTS];
	uint64_t floor; /* combos below it are settled, or given up */
	bool stop;

	/* spool thread; read by any */
	uint64_t written;    /* combos below it that were handed over are in the file */
	bool failing;	     /* it cannot write; where there is no room: */
	uint64_t full_until; /* there is, as soon as combos below are settled or given up; 0 */
	unsigned int used;   /* segments */

	/* spool thread */
	struct spool_segment segments[SPOOL_SEGMENTS];
	int writing; /* segment, -1: none */
	uint64_t write_at, order, retry_ns;
	bool begun;		  /* the file's beginning is there */
	struct info_lasting info; /* of what is written next */
	bool info_due;		  /* it is not in the present segment yet */
	bool told;
	struct spool_reader ours, old;
	/* The session's, set before spool_begin, stow's and forward's: without a spool there
	 * are none. */
	struct info_lasting lasting, stowed, forwarded;

	struct session_spool groups[SPOOL_SEGMENTS]; /* of earlier processes, by age */
	unsigned int group_count;
};

/* Before rights are given up, and the sandbox. Returns NULL after a line. */
struct spool *spool_open_file(const char *path, uint64_t bytes);
/* Makes keys, and finds what earlier processes have left: the session is told of it. Its run and
 * what lasts of its info are known, and `next` the count of its next combo. Returns 0, or -errno
 * after a line. */
int spool_begin(struct spool *s, struct session *session, uint64_t next);
/* Begins, and ends when all that can be is written. Return 0 or -errno. */
int spool_start(struct spool *s);
void spool_stop(struct spool *s);
/* Behind that: the last totals, of what stays. */
void spool_finish(struct spool *s, const uint8_t *totals, size_t len, uint64_t count);
/* Takes NULL. */
void spool_free(struct spool *s);

/* ---- export thread --------------------------------------------------------------------------- */

/* A slot to fill, or NULL; then it is handed over. */
struct spool_slot *spool_slot(struct spool *s);
void spool_put(struct spool *s);
/* Combos below are settled, or given up. */
void spool_settle(struct spool *s, uint64_t floor);
/* The combo `count` out of the file, or NULL where it is not there yet; SPOOL_LOST: it never will
 * be. Then the reader is to be made free. */
const struct spool_reader *spool_read(struct spool *s, uint64_t count);
/* The same with the next record of a group; SPOOL_END: there is none. */
const struct spool_reader *spool_read_old(struct spool *s, unsigned int group);
void spool_read_done(struct spool_reader *r);

static inline uint64_t spool_written(const struct spool *s)
{
	return __atomic_load_n(&s->written, __ATOMIC_ACQUIRE);
}

static inline bool spool_has(const struct spool *s, uint64_t count)
{
	return count < spool_written(s);
}

/* Whether the thread has seen to all slots. */
static inline bool spool_is_idle(const struct spool *s)
{
	return __atomic_load_n(&s->taken, __ATOMIC_ACQUIRE) == s->put;
}

static inline bool spool_works(const struct spool *s)
{
	return !__atomic_load_n(&s->failing, __ATOMIC_ACQUIRE);
}

/* ---- between the spool's own files: spool thread --------------------------------------------- */

#define SPOOL_RETRY_MS 1000 /* where it cannot be written */

/* The slot that is written next, or NULL. */
static inline const struct spool_slot *spool_next_slot(const struct spool *s)
{
	return s->taken == __atomic_load_n(&s->put, __ATOMIC_ACQUIRE)
		       ? NULL
		       : &s->slots[s->taken % SPOOL_SLOTS];
}

/* The oldest segment of a use, and of an earlier process's group, from this order on, or -1. */
#define SPOOL_ANY_GROUP UINT64_MAX
int spool_oldest(const struct spool *s, int use, uint64_t group, uint64_t from);
/* What needs not be kept any more makes room. */
void spool_free_settled(struct spool *s);
/* Writes the next slot. Returns whether there was something to do, as do the next two. */
bool spool_write_next(struct spool *s, uint64_t now_ns);
/* Answer the export thread, where it wants something. */
bool spool_answer(struct spool *s);
bool spool_answer_old(struct spool *s);
/* Returns 0 or -errno. */
int spool_write_record(struct spool *s, const struct spool_record *r);

#endif
