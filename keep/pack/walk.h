/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walk: takes the blocks of a capture file from its begin to its end. In: blocks, of an untrusted
 * file. Out: an index, and rows of tables.
 */
#ifndef KEEP_PACK_WALK_H
#define KEEP_PACK_WALK_H

#include "archive/index_build.h"
#include "pcapng/blocks.h"
#include "pcapng/combo_name.h"
#include "sections.h"

struct walk {
	struct index_build *index;
	bool is_merged; /* the section is of a unified trace */
	struct sections sections;
	struct combo_place combo;
	int32_t *numbers; /* a unified trace's sensors in the index, by id; -1: not described */
};

/* Returns 0 or -ENOMEM. */
int walk_init(struct walk *w);
/* Takes all blocks. Returns 0, -EINTR after a signal to stop, or an error of blocks_next(), at
 * place `blocks->at`. */
int walk_blocks(struct walk *w, struct blocks *blocks);
void walk_free(struct walk *w);

#endif
