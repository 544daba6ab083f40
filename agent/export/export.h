/* SPDX-License-Identifier: GPL-2.0 */
/* Thread 2: compresses combos, stores them until they are delivered, and sends ledger and progress.
 */
#ifndef AGENT_EXPORT_H
#define AGENT_EXPORT_H

#include <stdbool.h>

#include "deliver.h"
#include "forward.h"
#include "compressor.h"
#include "agent/rings/journal.h"
#include "agent/capture/queue.h"
#include "agent/capture/watermark.h"
#include "session.h"
#include "agent/source/source.h"
#include "spool.h"
#include "wire/totals.h"

/* The thread's state. A collector that confirms all leads to EXPORT_OVER from any state.
 *
 *     RUNNING ─▶ ENDING ─▶ SPOOLING ◀─▶ GIVING_UP ─▶ LAST_WORD ─▶ OVER
 *                 │           └───────────────────────▲────────────▲
 *                 └─▶ GIVING_UP, where there is no spool
 */
enum export_state {
	EXPORT_RUNNING,
	EXPORT_ENDING,	  /* the end is awaited: patience with collectors is limited */
	EXPORT_SPOOLING,  /* patience is over: all goes into the spool, nothing to the collector */
	EXPORT_GIVING_UP, /* patience is over, and no spool can be written */
	EXPORT_LAST_WORD, /* the queue has ended: reports dropped frames to the collector */
	EXPORT_OVER,
};

/* The state of the queue's first combo. */
enum export_front {
	EXPORT_FRESH,	   /* or no combo */
	EXPORT_COMPRESSED, /* in the slot's `wire` */
	EXPORT_KEPT,	   /* in the store or the spool, not committed */
};

/* How the thread ended. */
enum export_outcome {
	EXPORT_CONFIRMED,   /* the collector has confirmed the final totals */
	EXPORT_SPOOLED,	    /* undelivered frames are in the spool */
	EXPORT_INCOMPLETE,  /* frames were dropped at the end */
	EXPORT_UNCONFIRMED, /* the collector has not confirmed the final totals */
};

struct exporter {
	/* Set by the owner. */
	struct spool *spool;  /* NULL: none; freed by export_free() */
	uint64_t patience_ns; /* without a collector, after `stop` or with a file;
			       * atomic */
	bool stop;	      /* set by the control thread */
	bool local;	      /* the collector is this command's own: it prints the ledger */
	const struct watermark *watermark; /* the capture thread's; NULL: of a file */
	uint64_t limit;			   /* frames of the run to export, a combo's end; 0: all */
	uint64_t beyond;		   /* frames dropped because of it */

	/* Set by export_init(). Small members come first, large ones that are used from their
	 * beginning last, as unwritten pages take no memory. */
	struct source *source;
	struct queue *queue;
	struct session *session;
	bool is_file;
	bool persistent; /* the ring outlives this agent: frames left in it are not lost */
	bool left;	 /* a combo's frames were left in the ring, so all later ones are, too */
	struct journal journal;
	uint64_t next_totals_ns;
	uint64_t next_spooled_ns; /* time of the spool's next totals */
	uint64_t next_progress_ns;
	uint64_t progress_next;	    /* combos exported at the last progress */
	struct watermark_mark mark; /* the last one whose frames are exported */
	enum export_state state;
	uint64_t waiting_since_ns; /* waiting for a session; 0: not waiting */
	uint64_t moved_ns;	   /* last progress: a combo was settled, or none waited */
	uint64_t last_word_ns;	   /* end of the last word */
	enum export_outcome outcome;
	enum export_front front;
	struct compressor_sight sight;	 /* read by the pipelines' threads */
	struct saluki_exported counters; /* written by the export thread, read by any */
	struct deliver deliver;
	uint8_t wire[COMBO_WIRE_MAX]; /* without pipelines: the queue's first combo, compressed */
	struct forward forward;
	/* Set by the owner: this thread's, then one for each pipeline. */
	unsigned int compressors_len;
	struct compressor compressors[1 + PIPELINES_MAX];
};

/* For the combos of `queue`, with frames of `source`, which was handed over as `h`. `e` is zeroed,
 * except for the owner's members. `journal` is closed; -1: no ring outlives this agent. Returns 0,
 * or -errno after a line. */
int export_init(struct exporter *e, struct source *source, struct queue *queue,
		struct session *session, const struct handover *h, int journal);
/* Begins the spool and allocates memory, after resume() and control_init(). Returns 0, or -errno
 * after a line. */
int export_start(struct exporter *e, size_t store_bytes);
void export_free(struct exporter *e);
/* After export_start: returns the frames of the run that are exported, or in the queue. */
uint64_t export_first(const struct exporter *e);
/* Runs until the queue is finished and all is settled, or patience is over. */
void *export_thread(void *export);
/* Fills in the current ledger. Any thread. */
void export_totals(struct exporter *e, struct totals *t);

/* ---- export_state.c, for the export thread --------------------------------------------------- */

/* Returns the next state, and does the work of the transition. `up`: there is a session; `heard`:
 * there is one, or one for an earlier process's records. */
enum export_state export_next(struct exporter *e, bool up, bool heard, uint64_t now_ns);

/* ---- ledger.c, for the export thread --------------------------------------------------------- */

/* Writes the ledger as a message; `final`: as the last one. Returns its bytes. */
size_t export_totals_write(struct exporter *e, uint8_t message[TOTALS_WIRE_MAX], bool final);
/* Sends the ledger to the collector. In a new session it is the first message. */
void export_tell(struct exporter *e, uint64_t now_ns, bool final);

/* ---- progress.c, for the export thread ------------------------------------------------------- */

/* Tells the collector up to when all frames are exported, and the session's measurement. */
void export_progress(struct exporter *e, uint64_t now_ns);
/* The same between two totals, if no frames have told it. */
void export_progress_between(struct exporter *e, uint64_t now_ns);

#endif
