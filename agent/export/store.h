/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Store: the combos of a run that the collector has not settled, compressed as they travel, by
 * their count. Bounded (--store-bytes) and reserved at start, in blocks that are used again in the
 * order last in, first out: a sensor whose collector answers touches few pages of it.
 */
#ifndef AGENT_STORE_H
#define AGENT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_BLOCK 1024 /* bytes */
#define STORE_BYTES_MIN (64 * 1024)

/* Its pieces are those of one cut; bit n is piece n. A piece that is neither pending nor acked is
 * under way. */
struct store_combo {
	uint64_t first;	   /* frames of the run before it */
	uint64_t whole_ns; /* CLOCK_MONOTONIC when all its pieces were acked */
	uint32_t frames, len;
	uint32_t pending, acked;
	uint16_t cut;	/* bytes of a piece; 0: not cut yet */
	uint8_t pieces; /* how many that makes */
	uint8_t epoch;	/* rises where it is cut anew, so that old datagrams are told from new */
	uint32_t block; /* its first one, which this is in */
};

struct store {
	uint8_t *memory;
	uint32_t *next;	 /* of each block the one behind it */
	uint32_t *index; /* of each count, modulo `blocks`, its first block */
	uint32_t blocks, free_count;
	uint32_t fresh;	      /* blocks from here on were never used */
	uint32_t free_block;  /* the last one given back; none: `blocks` */
	uint64_t lowest, end; /* counts that are kept: from lowest to in front of end */
	size_t mapped_len;
};

/* Returns 0 or -ENOMEM. */
int store_init(struct store *s, size_t bytes);
void store_free(struct store *s); /* takes a zeroed one */
/* Nothing is kept; the next combo has this count. */
void store_start(struct store *s, uint64_t count);

/* Keeps a combo as count `end`. Returns it, or NULL where there is no room. */
struct store_combo *store_put(struct store *s, const uint8_t *wire, size_t len);
/* NULL where it is not kept. */
struct store_combo *store_get(const struct store *s, uint64_t count);
/* Copies bytes of a combo, `offset` + `len` not beyond its end. */
void store_read(const struct store *s, const struct store_combo *c, size_t offset, size_t len,
		uint8_t *out);
void store_drop_newest(struct store *s);
/* Gives up what is below `count`. Returns how many that were. */
uint64_t store_settle(struct store *s, uint64_t count);

static inline bool store_is_empty(const struct store *s)
{
	return s->lowest == s->end;
}

#endif
