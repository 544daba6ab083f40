/* SPDX-License-Identifier: GPL-2.0 */
/* Thread 2: compresses combos, keeps them until they are delivered, and tells the ledger. */
#ifndef AGENT_EXPORT_H
#define AGENT_EXPORT_H

#include <stdbool.h>

#include "compress.h"
#include "deliver.h"
#include "forward.h"
#include "agent/rings/journal.h"
#include "agent/capture/queue.h"
#include "session.h"
#include "agent/source/source.h"
#include "spool_policy.h"
#include "wire/totals.h"

struct exporter {
	struct queue *queue;
	struct source *source;
	struct session *session;
	struct compress compress;
	uint64_t patience_ns; /* without a collector, after `stop` or with a file */
	bool stop;	      /* set by the control thread */
	bool is_file;
	bool persistent; /* the ring stays when this agent ends: what is left in it is not lost */
	struct journal journal;
	uint64_t *ends;	     /* journal.lanes positions */
	struct spool *spool; /* NULL: there is none */

	/* Set by export_init(). What is small comes first, and what is used from its beginning on
	 * last: a page that nothing is written to takes no memory. */
	struct spool_policy stow;
	uint64_t next_stowed_ns;
	uint64_t next_totals_ns, waiting_since_ns, moved_ns;
	size_t wire_len; /* of the queue's first combo, compressed; 0: it is not yet */
	bool kept;	 /* that is in the store, and not committed */
	struct saluki_exported counters; /* written by the export thread, read by any */
	bool given_up;			 /* patience is over */
	bool left;			 /* a combo was left in the ring for the next agent */
	bool undelivered;		 /* frames were given up at the end */
	bool stowed;			 /* what was not is in the spool */
	bool unconfirmed;		 /* the collector has not confirmed the final totals */
	struct deliver deliver;
	uint8_t wire[COMBO_WIRE_MAX];
	struct forward forward;
};

/* Memory, behind resume(). What is above `stow` is set. Returns 0 or -ENOMEM. */
int export_init(struct exporter *e, size_t store_bytes);
void export_free(struct exporter *e);
/* Runs until the queue is finished and all is settled, or patience is over. */
void *export_thread(void *export);
/* The ledger so far. Any thread. */
void export_totals(struct exporter *e, struct totals *t);

/* ---- ledger.c, for the export thread --------------------------------------------------------- */

/* The same as a message, `final` as the last word. Returns its bytes. */
size_t export_totals_write(struct exporter *e, uint8_t message[TOTALS_WIRE_MAX], bool final);
/* Tells the collector. A new session is told where it stands before anything else. */
void export_tell(struct exporter *e, uint64_t now_ns, bool final);

#endif
