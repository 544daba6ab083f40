/* SPDX-License-Identifier: GPL-2.0 */
/* Thread 2: compresses combos, keeps them until they are delivered, and tells the ledger. */
#ifndef AGENT_EXPORT_H
#define AGENT_EXPORT_H

#include <stdbool.h>

#include "deliver.h"
#include "forward.h"
#include "agent/rings/journal.h"
#include "agent/capture/queue.h"
#include "session.h"
#include "agent/source/source.h"
#include "spool.h"
#include "wire/compress.h"
#include "wire/totals.h"

/* Where the thread stands. A collector that confirms all leads to EXPORT_OVER from any state.
 *
 *     RUNNING ─▶ ENDING ─▶ SPOOLING ◀─▶ GIVING_UP ─▶ LAST_WORD ─▶ OVER
 *                 │           └───────────────────────▲────────────▲
 *                 └─▶ GIVING_UP, where there is no spool
 */
enum export_state {
	EXPORT_RUNNING,
	EXPORT_ENDING,	  /* somebody waits for the end: patience with collectors is bounded */
	EXPORT_SPOOLING,  /* it is over: all goes into the spool, nothing to the collector */
	EXPORT_GIVING_UP, /* it is over, and there is no spool that can be written */
	EXPORT_LAST_WORD, /* the queue has ended: the collector is told what was given up */
	EXPORT_OVER,
};

/* How far the queue's first combo is. */
enum export_front {
	EXPORT_FRESH,	   /* or there is none */
	EXPORT_COMPRESSED, /* `wire` has it */
	EXPORT_KEPT,	   /* the store or the spool has it; it is not committed */
};

/* How it has ended. */
enum export_outcome {
	EXPORT_CONFIRMED,   /* the collector has confirmed the final totals */
	EXPORT_SPOOLED,	    /* what was not delivered is in the spool */
	EXPORT_INCOMPLETE,  /* frames were given up at the end */
	EXPORT_UNCONFIRMED, /* the collector has not confirmed the final totals */
};

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
	uint64_t next_totals_ns;
	uint64_t next_spooled_ns; /* when the spool is due for totals */
	enum export_state state;
	uint64_t waiting_since_ns; /* for a session; 0: there is one */
	uint64_t moved_ns;	   /* when something was settled, or nothing waited for that */
	uint64_t last_word_ns;	   /* until then it is said */
	enum export_outcome outcome;
	enum export_front front;
	size_t wire_len;		 /* of the queue's first combo, compressed */
	struct saluki_exported counters; /* written by the export thread, read by any */
	struct deliver deliver;
	uint8_t wire[COMBO_WIRE_MAX];
	struct forward forward;
};

/* Memory, behind resume(). What is above `next_totals_ns` is set. Returns 0 or -ENOMEM. */
int export_init(struct exporter *e, size_t store_bytes);
void export_free(struct exporter *e);
/* Runs until the queue is finished and all is settled, or patience is over. */
void *export_thread(void *export);
/* The ledger so far. Any thread. */
void export_totals(struct exporter *e, struct totals *t);

/* ---- export_state.c, for the export thread --------------------------------------------------- */

/* Returns the state that follows, and does what leads there. `up`: there is a session; `heard`:
 * there is one, or one for what an earlier process has left. */
enum export_state export_next(struct exporter *e, bool up, bool heard, uint64_t now_ns);

/* ---- ledger.c, for the export thread --------------------------------------------------------- */

/* The same as a message, `final` as the last word. Returns its bytes. */
size_t export_totals_write(struct exporter *e, uint8_t message[TOTALS_WIRE_MAX], bool final);
/* Tells the collector. A new session is told where it stands before anything else. */
void export_tell(struct exporter *e, uint64_t now_ns, bool final);

#endif
