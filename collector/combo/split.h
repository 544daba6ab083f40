/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Split: combos become frames. In: whole combos (gaps.h), the run that waits for the last of them
 * (runs.h). Out: frames and events, to output.h; what the ledger says.
 */
#ifndef COLLECTOR_COMBO_SPLIT_H
#define COLLECTOR_COMBO_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct combos;
struct sensor;

enum split_result {
	SPLIT_NONE,  /* no combo is due that is whole */
	SPLIT_TAKEN, /* one was taken; there may be more */
	SPLIT_HELD,  /* one is due, and must wait for the disk */
};

/* Takes the next combo of a sensor, or begins the run that waited for its last one (turns.h). */
enum split_result split_next(struct combos *c, struct sensor *s, uint64_t now_ns);

#endif
