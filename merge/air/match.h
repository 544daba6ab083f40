/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Match: puts receptions into transmissions. In: receptions in the order of the unified time. Out:
 * transmissions that no more receptions can join. Two receptions are of one transmission if they
 * have the same key, different radios, and nearly the same time. If in doubt, a reception stays
 * alone.
 */
#ifndef MERGE_AIR_MATCH_H
#define MERGE_AIR_MATCH_H

#include "answer.h"
#include "merge/clock/domain.h"
#include "merge/model/transmission.h"
#include "pool.h"
#include "retained.h"

#define MATCH_WINDOW_NS 10000000 /* of frames that are unique for a second */
#define MATCH_NEAR_LEAST_NS 20000
#define MATCH_NEAR_MOST_NS 55000
#define MATCH_OPEN_NS 20000000 /* a transmission is decided after this time */
#define MATCH_BUCKETS 16384

struct match {
	struct transmission *buckets[MATCH_BUCKETS];
	struct transmission *oldest, *newest; /* not yet decided */
	struct transmission *examined;	      /* the newest one that damaged.h has looked at */
	struct pool transmissions, heard;
	struct answered *radios; /* by their number */
	uint32_t radio_room;
	bool keep_all; /* the bytes of all receptions, not only of the best */
	/* Ledger */
	uint64_t receptions, begun, merged;
};

void match_init(struct match *m);
void match_free(struct match *m);
/* Begins anew, as if nothing had been taken. */
void match_forget(struct match *m);
/* Takes a reception of a domain at its unified time. Returns 0, or -ENOMEM. */
int match_take(struct match *m, const struct domain *d, const struct reception *r,
	       int64_t unified_ns);
/* Makes a transmission of a late reception, which is flagged. `found`: the transmission that it
 * belongs to, or NULL. It is the caller's, who gives it back. Returns NULL without memory. */
struct transmission *match_late(struct match *m, const struct domain *d, const struct reception *r,
				int64_t unified_ns, const struct retained_entry *found);
/* How far a reception may be from its transmission, ns. */
double match_window(const struct domain *d, const struct reception *r);
/* Where receptions are to be expected, ns from the transmission's time. */
double match_centre(const struct transmission *t);
/* Returns the oldest transmission if it began before `unified_ns` (INT64_MAX: in any case), or
 * NULL. It is the caller's, who gives it back. */
struct transmission *match_decided(struct match *m, int64_t unified_ns);
void match_give_back(struct match *m, struct transmission *t);

#endif
