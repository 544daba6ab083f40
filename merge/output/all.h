/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All: writes every reception as a packet block of its own, on its radio's interface, whose block
 * is the collector's. Stamps are the unified time, and blocks are in its order. Receptions of one
 * transmission have the same packet id. Malformed frames and those of other link types have none.
 * At the end are statistics, as in writer.h.
 */
#ifndef MERGE_OUTPUT_ALL_H
#define MERGE_OUTPUT_ALL_H

#include "ledger.h"
#include "merge/air/order.h"
#include "merge/air/pool.h"
#include "merge/input/sensors.h"
#include "outlet.h"

struct all {
	struct outlet *outlet;
	const struct sensors *sensors;
	struct pool pool;   /* of receptions that wait */
	struct order order; /* and their turns */
	uint64_t arrived;   /* receptions, so far: decides between equal times */
	/* In the present file */
	bool begun;
	uint32_t radios; /* described: the radio's number is its interface's */
	/* In all files */
	int64_t newest_ns;
	uint64_t *received; /* by radio */
	uint32_t radio_room;
	struct ledger ledger;
};

void all_init(struct all *a, struct outlet *o, const struct sensors *s);
/* A struct merge_sink's function. The match keeps all receptions' bytes (keep_all). */
int all_take(void *all, const struct transmission *t);
/* Writes what waits, and the statistics. Returns 0 or -errno after a line. */
int all_finish(struct all *a);
void all_free(struct all *a);

#endif
