/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stow: which combos go from memory to the spool, and how they come back (spool.h). The store has
 * the oldest that are not settled; what it has no room for goes to the file, and into the store
 * from there, in order. What waits in the store for long, or with no collector in reach, is written
 * to the file too, for who comes after us. Used by the export thread alone. Without --spool it is
 * the store and nothing else.
 */
#ifndef AGENT_STOW_H
#define AGENT_STOW_H

#include "deliver.h"
#include "spool.h"

#define STOW_AGE_NS 1000000000ULL /* what is settled sooner is not written, twice as long is */

struct stow {
	struct spool *spool; /* NULL: there is none */
	struct deliver *deliver;
	uint64_t end;	 /* the next combo's count; from store.end on they are only in the file */
	uint64_t handed; /* combos below it were handed over, or were settled before */
	uint64_t aged[2], aged_ns; /* combos below aged[0] are old */
	struct info_lasting *info; /* in the spool */
	bool info_waits;	   /* to be handed over ahead of combo `info_from` */
	uint64_t info_from;
};

/* Behind deliver_start. */
void stow_begin(struct stow *st, struct spool *spool, struct deliver *d);
/* Keeps a combo, in memory or, where `spill`, in the file. Returns whether there was room. */
bool stow_put(struct stow *st, const uint8_t *wire, size_t len, uint64_t first, uint32_t frames,
	      bool spill);
/* Takes back what there is room for, hands over what is old, or all where there is no collector
 * (not `up`). Returns whether something was handed over. */
bool stow_turn(struct stow *st, bool up, uint64_t now_ns);
/* Notes the totals of now behind the combos. */
void stow_totals(struct stow *st, const uint8_t *message, size_t len);
/* Whether nothing helps but to give the oldest up. */
bool stow_is_full(struct stow *st);
/* Whether all of the run is handed over and written. */
bool stow_is_whole(const struct stow *st);
/* The end, with the last totals where something stays in the file. Returns how many frames of
 * `exported` are neither settled nor there; in `*stay` how many are there. */
uint64_t stow_end(struct stow *st, uint64_t exported, const uint8_t *totals, size_t len,
		  uint64_t *stay);

/* Whether a combo is in the file. */
static inline bool stow_has(const struct stow *st, uint64_t count)
{
	return st->spool && spool_has(st->spool, count);
}

static inline bool stow_works(const struct stow *st)
{
	return st->spool && spool_works(st->spool);
}

#endif
