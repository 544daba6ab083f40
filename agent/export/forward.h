/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forward: records that an earlier process has left in the spool go to the collector as they are,
 * in a session of their own (docs/wire.md, "Spool"), ahead of the present run; and with them, what
 * that process said of itself when it made them. Used by the export thread alone.
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
	bool started;	/* a record of it has come */
	bool ended;	/* the last one has */
	uint64_t next_totals_ns;
	uint64_t told; /* datagram with the last totals of it, that is not lost; 0: none yet */
	struct info_lasting *info; /* in the spool: of the records that are kept */
	bool info_known;	   /* the collector has it */
	uint64_t info_told;	   /* datagram with it, that is not lost; 0: none yet */
	uint8_t totals[TOTALS_WIRE_MAX];
	size_t totals_len;
	struct deliver deliver;
};

/* Behind spool_begin. Returns 0 or -ENOMEM. */
int forward_init(struct forward *f, struct spool *spool, struct session *session,
		 struct saluki_exported *counters);
void forward_free(struct forward *f);
/* Does what can be done now. Returns whether the present session is one of these. */
bool forward_turn(struct forward *f, uint64_t now_ns);

#endif
