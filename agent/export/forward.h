/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forward: sends records of earlier processes in the spool to the collector, unchanged, in sessions
 * of their own (docs/wire.md, "Spool"), before the current run. Their descriptions go with them.
 * Only for the export thread.
 */
#ifndef AGENT_FORWARD_H
#define AGENT_FORWARD_H

#include "deliver.h"
#include "spool.h"
#include "wire/totals.h"

#define FORWARD_STORE_BYTES (512 * 1024)

enum forward_state {
	FORWARD_BEGUN,	 /* no combo was read yet */
	FORWARD_READING, /* the store has combos, or had */
	FORWARD_ENDED,	 /* the last record was read */
};

struct forward {
	struct spool *spool;	     /* NULL: nothing to forward */
	struct session_spool *group; /* NULL: none yet */
	enum forward_state state;    /* of its records */
	uint64_t next_totals_ns;
	/* Datagrams with its last totals, and with the info: repeated if lost. 0: none yet. */
	uint64_t totals_told, info_told;
	struct info_lasting info; /* of the stored records */
	uint8_t totals[TOTALS_WIRE_MAX];
	size_t totals_len;
	struct deliver deliver;
};

/* Call it after spool_begin. Returns 0 or -ENOMEM. Free the `deliver`. */
int forward_init(struct forward *f, struct spool *spool, struct saluki_exported *counters);
/* Does the possible work. Returns whether the current session forwards. */
bool forward_turn(struct forward *f, uint64_t now_ns);

#endif
