/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Own time: from stamps to the time of the clock that a domain follows.
 *
 * - TSFT: the radio's clock, in ns. Frames without it get it from the stamp.
 * - With readings of the sensor's clocks: CLOCK_MONOTONIC_RAW. Its rate is never changed, so that
 *   steps and slews of the sensor's clock are not in it.
 * - Otherwise: the stamp, without the steps that were found.
 */
#ifndef MERGE_CLOCK_OWN_H
#define MERGE_CLOCK_OWN_H

#include "domain.h"

/* Stamps and TSFT that drift apart by more at once are of another clock than before. */
#define OWN_APART_NS 5000000
/* Stamps may be late by as much, so that receptions are not in the order of their TSFT. */
#define OWN_LATE_NS 1000000000LL
/* It takes so long to tell a reset TSFT from late stamps. The sweep is further behind (merge.c). */
#define OWN_DOUBT_NS 250000000

/* Sets the own time of a reception without TSFT, or in a domain that does not follow it. */
int64_t own_time(const struct domain *d, int64_t stamp_ns);
/* Looks at the TSFT of a domain's next reception. Returns false if it was reset: another domain
 * begins. */
bool own_tsft(struct domain *d, int64_t stamp_ns, int64_t tsft_ns);
/* The receptions since a TSFT was reset are another domain's, which has begun. Returns 0 or
 * -ENOMEM. */
int own_move(struct domain *from, struct domain *to);
/* At a time of the collector's clock, stamps were ahead of it, within half of the round trip. */
void own_ahead(struct domain *d, int64_t ahead_ns, int64_t round_trip_ns, int64_t at_ns);
/* Takes a reading, which is in the order of the stamps: later stamps are `difference_ns` more than
 * CLOCK_MONOTONIC; CLOCK_MONOTONIC_RAW is `raw_ns` more than it at `monotonic_ns`. Puts right what
 * is in the queue since the last one. Returns false if the machine was started again: another
 * domain begins. */
bool own_reading(struct domain *d, int64_t monotonic_ns, int64_t difference_ns, int64_t raw_ns);

#endif
