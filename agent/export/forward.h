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

struct forward {
	struct spool *spool; /* NULL: nothing to forward */
	struct session *session;
	uint32_t group; /* its number from 1; 0: none */
	bool started;	/* a record of it was read */
	bool ended;	/* its last record was read */
	uint64_t next_totals_ns;
	uint64_t told;		   /* datagram with its last totals, not lost; 0: none yet */
	struct info_lasting *info; /* in the spool: of the stored records */
	bool info_known;	   /* the collector has it */
	uint64_t info_told;	   /* datagram with it, not lost; 0: none yet */
	uint8_t totals[TOTALS_WIRE_MAX];
	size_t totals_len;
	struct deliver deliver;
};

/* Call it after spool_begin. Returns 0 or -ENOMEM. */
int forward_init(struct forward *f, struct spool *spool, struct session *session,
		 struct saluki_exported *counters);
void forward_free(struct forward *f);
/* Does the possible work. Returns whether the current session forwards. */
bool forward_turn(struct forward *f, uint64_t now_ns);

#endif
