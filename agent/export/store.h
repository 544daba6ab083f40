/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Store: a run's unsettled combos, compressed, by count. Its size is limited (--store-bytes) and
 * reserved at the start, in blocks that are reused last in, first out. So a sensor with an
 * answering collector touches few pages.
 */
#ifndef AGENT_STORE_H
#define AGENT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_BLOCK 1024 /* bytes */
#define STORE_BYTES_MIN (64 * 1024)

/* Pieces of the current cut; bit n is piece n. A piece that is neither pending nor acknowledged is
 * in flight. */
struct store_combo {
	uint64_t first;	   /* frames of the run before it */
	uint64_t whole_ns; /* CLOCK_MONOTONIC when all its pieces were acknowledged */
	uint32_t frames, len;
	uint32_t pending, acked;
	uint16_t cut;	/* bytes per piece; 0: not cut yet */
	uint8_t pieces; /* number of pieces */
	uint8_t epoch;	/* rises when it is cut again, to distinguish old datagrams */
	uint32_t block; /* its first block, with this struct */
};

struct store {
	uint8_t *memory;
	uint32_t *next;	 /* per block, the next block */
	uint32_t *index; /* per count, modulo `blocks`, the first block */
	uint32_t blocks, free_count;
	uint32_t fresh;	      /* blocks from here on were never used */
	uint32_t free_block;  /* the last freed block; `blocks`: none */
	uint64_t lowest, end; /* stored counts: from lowest to before end */
	size_t mapped_len;
};

/* Returns 0 or -ENOMEM. */
int store_init(struct store *s, size_t bytes);
void store_free(struct store *s); /* accepts a zeroed one */
/* Empties the store. The next combo has this count. */
void store_start(struct store *s, uint64_t count);

/* Stores a combo as count `end`. Returns it, or NULL without room. */
struct store_combo *store_put(struct store *s, const uint8_t *wire, size_t len);
/* Returns the combo, or NULL if it is not stored. */
struct store_combo *store_get(const struct store *s, uint64_t count);
/* Copies bytes of a combo, `offset` + `len` not beyond its end. */
void store_read(const struct store *s, const struct store_combo *c, size_t offset, size_t len,
		uint8_t *out);
void store_drop_newest(struct store *s);
/* Removes combos below `count`. Returns their number. */
uint64_t store_settle(struct store *s, uint64_t count);

/* Returns how full it is. Any thread. */
static inline unsigned int store_percent(const struct store *s)
{
	uint32_t free = __atomic_load_n(&s->free_count, __ATOMIC_RELAXED);

	return s->blocks ? (s->blocks - free) * 100ULL / s->blocks : 0;
}

/* The bytes of its blocks, in use and all. Any thread. */
static inline uint64_t store_used(const struct store *s)
{
	uint32_t free = __atomic_load_n(&s->free_count, __ATOMIC_RELAXED);

	return (uint64_t)(s->blocks - free) * STORE_BLOCK;
}

static inline uint64_t store_bytes(const struct store *s)
{
	return (uint64_t)s->blocks * STORE_BLOCK;
}

static inline bool store_is_empty(const struct store *s)
{
	return s->lowest == s->end;
}

#endif
