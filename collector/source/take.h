/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Take: takes messages of the log. In: messages (wire/put.h), in the order of the log. Out: combos,
 * to combo/split.h; runs, to combo/runs.h; records; totals, to the ledger. Always holds: a combo is
 * written once. It is known by its name (sensor, run, count), also after a restart.
 *
 * A combo below its run's next one is a repetition, unless it fills a gap (late.h). A combo of
 * another run begins that run, or continues it. So a late combo of an older run switches to this
 * run, and the next message of the newer run switches back.
 */
#ifndef COLLECTOR_SOURCE_TAKE_H
#define COLLECTOR_SOURCE_TAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/combo/combos.h"
#include "done.h"
#include "records.h"
#include "roster.h"

/* Messages, each in one of these. */
struct take_counts {
	uint64_t combos;	 /* taken: written, or the ledger has their frames as lost */
	uint64_t repeated;	 /* combos and totals that were taken before */
	uint64_t bad;		 /* malformed, or against what came before */
	uint64_t unknown_record; /* of a sensor whose record has not come */
	uint64_t no_place;	 /* of sensors beyond ROSTER_MAX, or without memory */
	uint64_t totals;	 /* and progress */
	uint64_t records;	 /* and other keys of their topic */
	uint64_t others;	 /* of other topics */
};

struct take {
	struct combos *combos;
	struct records records;
	struct roster roster;
	struct done done;
	struct take_counts counts;
	uint64_t late;		  /* of `combos`: they filled a gap */
	uint32_t moves;		  /* of partitions to and from this reader */
	uint64_t moved_ns;	  /* monotonic: the last one; 0: never */
	uint64_t repeated_frames; /* in repeated combos */
	/* 0: never */
	uint64_t bad_logged_ns, unknown_logged_ns; /* the latter: of sensors without any record */
};

int take_init(struct take *t, struct combos *c); /* returns 0 or -ENOMEM */
void take_free(struct take *t);
/* Takes a message, and notes its number in `done`, which must not be full. Returns false if it must
 * wait for the disk. */
bool take_message(struct take *t, const struct put *p, uint64_t now_ns);
/* Partitions came or went: other readers may have had a sensor's combos since its last one here. */
void take_moved(struct take *t, uint64_t now_ns);
/* Counts a message that is malformed. */
void take_bad(struct take *t, const char *what, uint64_t now_ns);
uint64_t take_sum(const struct take_counts *c);

#endif
