/* SPDX-License-Identifier: GPL-2.0 */
/* Thread 2: compresses, seals and sends combos, and the totals of the ledger. */
#ifndef AGENT_EXPORT_H
#define AGENT_EXPORT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "compress.h"
#include "journal.h"
#include "pieces.h"
#include "agent/queue.h"
#include "session.h"
#include "agent/source/source.h"
#include "wire/totals.h"

/* With -r at full speed no more than this many datagrams are under way without a receipt: the
 * collector sets the pace. They fit into the receive buffer of a collector without privilege. */
#define EXPORT_AHEAD_MAX 128

struct exporter {
	struct queue *queue;
	struct source *source;
	struct session *session;
	struct compress compress;
	bool paced;	      /* wait for receipts (EXPORT_AHEAD_MAX) */
	uint64_t patience_ns; /* without a collector, after `stop` or with a file */
	bool stop;	      /* set by the control thread */
	bool is_file;
	bool persistent; /* the ring stays when this agent ends: what is left in it is not lost */
	struct journal journal;
	uint64_t *ends; /* journal.lanes positions */

	struct seal_tx tx;
	uint16_t sensor_id;
	unsigned int generation;
	uint64_t next_totals_ns, waiting_since_ns;
	uint8_t wire[COMBO_WIRE_MAX];
	struct pieces pieces;
	struct saluki_exported counters; /* written by the export thread, read by any */
	bool one_by_one;		 /* before Linux 3.0 there is no sendmmsg() */
	bool told_refused;
	bool left;	  /* a combo was left in the ring for the next agent */
	bool unconfirmed; /* the collector has not confirmed the final totals */
};

/* Runs until the queue is finished, then sends the final totals. */
void *export_thread(void *export);
/* The ledger so far. Any thread. */
void export_totals(struct exporter *e, struct totals *t);

#endif
