/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One way: what of a sensor that hears nothing will not come any more (docs/wire.md). Nothing is
 * asked for again, so what is missing is waited for only as long as it may have been overtaken:
 * until combos ONE_WAY_COMBOS further on come, or for ONE_WAY_NS behind a FLOOR.
 */
#ifndef COLLECTOR_COMBO_ONE_WAY_H
#define COLLECTOR_COMBO_ONE_WAY_H

#include <stdint.h>

#define ONE_WAY_COMBOS 64 /* REASSEMBLE_SLOTS: there is room for no more */
#define ONE_WAY_NS 2000000000ULL

struct combos;
struct piece;
struct sensor;

/* A piece is about to be added: there is place for it. */
void one_way_piece(struct combos *c, struct sensor *s, const struct piece *p, uint64_t now_ns);
/* A session begins: combos of the run before are taken at once, so that the next need not wait. */
void one_way_session(struct combos *c, struct sensor *s, uint64_t now_ns);
/* A FLOOR of a one-way session: what is missing below `combo` is on its way, or lost. */
void one_way_floor(struct combos *c, struct sensor *s, uint64_t combo, uint64_t first,
		   uint64_t now_ns);
/* Passes over what is lost by now. */
void one_way_tick(struct combos *c, struct sensor *s, uint64_t now_ns);
/* Nothing is waited for any more. */
void one_way_end(struct combos *c, struct sensor *s, uint64_t now_ns);

#endif
