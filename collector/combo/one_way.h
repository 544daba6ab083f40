/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One way: decides which combos of a one-way sensor are lost (docs/wire.md). There are no
 * retransmissions, so a missing combo may only be late. It is lost once a combo ONE_WAY_COMBOS
 * later arrives, or ONE_WAY_NS after a FLOOR.
 */
#ifndef COLLECTOR_COMBO_ONE_WAY_H
#define COLLECTOR_COMBO_ONE_WAY_H

#include <stdint.h>

#define ONE_WAY_COMBOS 64 /* at most REASSEMBLE_SLOTS */
#define ONE_WAY_NS 2000000000ULL

struct combos;
struct piece;
struct sensor;

/* Makes room for a piece that the caller is about to add. */
void one_way_piece(struct combos *c, struct sensor *s, const struct piece *p, uint64_t now_ns);
/* Starts a session: takes the previous run's combos at once, so that the next run need not wait. */
void one_way_session(struct combos *c, struct sensor *s, uint64_t now_ns);
/* Takes a FLOOR of a one-way session: missing combos below `combo` are in flight or lost. */
void one_way_floor(struct combos *c, struct sensor *s, uint64_t combo, uint64_t first,
		   uint64_t now_ns);
/* Gives up combos that are lost by now. */
void one_way_tick(struct combos *c, struct sensor *s, uint64_t now_ns);
/* Ends all waiting for missing combos. */
void one_way_end(struct combos *c, struct sensor *s);

#endif
