/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pcapng walk: reads the blocks of a pcapng file, perhaps changed by others: which are complete,
 * and which combos they name.
 */
#ifndef COLLECTOR_OUTPUT_PCAPNG_WALK_H
#define COLLECTOR_OUTPUT_PCAPNG_WALK_H

#include "pcapng.h"

#define PCAPNG_WINDOW (256 * 1024)
struct pcapng_walk {
	int fd;
	int64_t at, len; /* of the next block; of the file */
	bool swapped;	 /* the section has the other byte order: not ours */
	int64_t window_at;
	size_t window_len;
	uint8_t *window; /* PCAPNG_WINDOW bytes */
};

enum pcapng_kind {
	PCAPNG_OTHER,
	PCAPNG_SECTION,
	PCAPNG_INTERFACE,
	PCAPNG_PACKET,
	PCAPNG_STATISTICS,
	PCAPNG_MODULE_EVENT,
};

struct pcapng_block {
	enum pcapng_kind kind;
	int64_t at;
	bool named; /* one of the last three kinds, with `name` */
	struct combo_name name;
	const char *line; /* PCAPNG_MODULE_EVENT: its line, valid until the next call; NULL: none */
	size_t line_len;
};

/* Begins with the block at `from`. Returns 0 or -ENOMEM. */
int pcapng_walk_init(struct pcapng_walk *w, int fd, int64_t from, int64_t len);
/* Returns 1 with the next block, 0 if no complete one follows (at place `at`), -EBADMSG if it is
 * malformed, or another -errno. */
int pcapng_walk_next(struct pcapng_walk *w, struct pcapng_block *b);
void pcapng_walk_free(struct pcapng_walk *w);

#endif
