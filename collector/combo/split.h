/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Split: splits combos into frames. In: complete combos (gaps.h), the run that waits for the last
 * one (runs.h). Out: frames and events, to output.h; counts in the ledger.
 */
#ifndef COLLECTOR_COMBO_SPLIT_H
#define COLLECTOR_COMBO_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct combos;
struct sensor;
struct unpacked;

enum split_result {
	SPLIT_NONE,  /* the next combo is incomplete */
	SPLIT_TAKEN, /* one was taken; there may be more */
	SPLIT_HELD,  /* the next combo must wait for the disk */
};

/* Returns the id that a sensor's combo must have. */
uint16_t split_id(const struct sensor *s, const uint8_t *combo, size_t len);
/* In split_combo.c: splits the combo that is due next, whose count is `count`. Returns whether it
 * was taken; otherwise it must wait for the disk. */
bool split_combo(struct combos *c, struct sensor *s, const uint8_t *combo, size_t len,
		 uint64_t count, uint64_t now_ns);
/* Its two halves. The first one returns the combo, unpacked, or NULL if it is invalid. */
struct unpacked *split_unpack(struct combos *c, struct sensor *s, const uint8_t *combo, size_t len,
			      uint64_t count);
bool split_unpacked(struct combos *c, struct sensor *s, struct unpacked *u, uint64_t count,
		    uint64_t now_ns);
/* Takes the next combo of a sensor, or starts the run that waited for the last one (turns.h). */
enum split_result split_next(struct combos *c, struct sensor *s, uint64_t now_ns);

#endif
