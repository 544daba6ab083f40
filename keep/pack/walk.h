/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walk: takes the blocks of a capture file from its begin to its end. In: blocks, of an untrusted
 * file. Out: an index, and rows of tables.
 */
#ifndef KEEP_PACK_WALK_H
#define KEEP_PACK_WALK_H

#include "archive/index_build.h"
#include "keep/columns/columns.h"
#include "pcapng/blocks.h"
#include "pcapng/combo_name.h"
#include "keep/model/sections.h"

struct walk_sensor {
	uint64_t section; /* the last one that has described it, from 1 */
	int32_t number;	  /* in the index */
	char name[64];
};

struct walk {
	struct index_build *index;
	struct columns columns;
	bool is_ours;	/* the first section was written by our programs */
	bool is_merged; /* the section is of a unified trace */
	struct sections sections;
	struct combo_place combo;
	uint32_t number;	     /* of the next frame in the combo */
	struct walk_sensor *sensors; /* of a unified trace, by id */
};

/* Returns 0 or -ENOMEM. */
int walk_init(struct walk *w);
/* Takes all blocks. Returns 0, -EINTR after a signal to stop, or an error of blocks_next(), at
 * place `blocks->at`. */
int walk_blocks(struct walk *w, struct blocks *blocks);
void walk_free(struct walk *w);

#endif
