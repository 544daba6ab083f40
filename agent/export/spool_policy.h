/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spool policy: which combos go from memory to the spool, and how they come back (spool.h). The
 * store has the oldest that are not settled; what it has no room for goes to the file, and into the
 * store from there, in order. What waits in the store for long, or with no collector in reach, is
 * written to the file too, for who comes after us. Used by the export thread alone. Without --spool
 * it is the store and nothing else.
 */
#ifndef AGENT_EXPORT_SPOOL_POLICY_H
#define AGENT_EXPORT_SPOOL_POLICY_H

#include "deliver.h"
#include "spool.h"

#define SPOOL_POLICY_AGE_NS                                                                        \
	1000000000ULL /* what is settled sooner is not written, twice as long is */

struct spool_policy {
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
void spool_policy_begin(struct spool_policy *st, struct spool *spool, struct deliver *d);
/* Keeps a combo, in memory or, where `spill`, in the file. Returns whether there was room. */
bool spool_policy_put(struct spool_policy *st, const uint8_t *wire, size_t len, uint64_t first,
		      uint32_t frames, bool spill);
/* Takes back what there is room for, hands over what is old, or all where there is no collector
 * (not `up`). Returns whether something was handed over. */
bool spool_policy_turn(struct spool_policy *st, bool up, uint64_t now_ns);
/* Notes the totals of now behind the combos. */
void spool_policy_totals(struct spool_policy *st, const uint8_t *message, size_t len);
/* Whether nothing helps but to give the oldest up. */
bool spool_policy_is_full(struct spool_policy *st);
/* Whether all of the run is handed over and written. */
bool spool_policy_is_whole(const struct spool_policy *st);
/* The end, with the last totals where something stays in the file. Returns how many frames of
 * `exported` are neither settled nor there; in `*stay` how many are there. */
uint64_t spool_policy_end(struct spool_policy *st, uint64_t exported, const uint8_t *totals,
			  size_t len, uint64_t *stay);

/* Whether a combo is in the file. */
static inline bool spool_policy_has(const struct spool_policy *st, uint64_t count)
{
	return st->spool && spool_has(st->spool, count);
}

static inline bool spool_policy_works(const struct spool_policy *st)
{
	return st->spool && spool_works(st->spool);
}

#endif
