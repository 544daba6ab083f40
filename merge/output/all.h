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
#include "merge/input/sensors.h"
#include "outlet.h"

/* A reception that waits for its turn. */
struct all_waiting {
	int64_t unified_ns;
	uint64_t order;	 /* of arrival: decides between equal times */
	uint64_t number; /* of the transmission; 0: none */
	struct chunk *chunk;
	const uint8_t *frame;
	uint32_t kept, whole, radio;
};

struct all {
	struct outlet *outlet;
	const struct sensors *sensors;
	struct all_waiting *heap; /* the earliest first */
	uint32_t count, room;
	uint64_t order;
	/* Of the present file */
	bool begun;
	uint32_t radios; /* described: the radio's number is its interface's */
	/* Of all files */
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
