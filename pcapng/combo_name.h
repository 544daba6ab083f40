/* SPDX-License-Identifier: GPL-2.0 */
/* Combo name: which combo of which run a block begins, and which combos of a file are complete. */
#ifndef PCAPNG_COMBO_NAME_H
#define PCAPNG_COMBO_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A combo's name. The combo's first block, of a frame or an event, has it as an option that tools
 * do not copy (opt_custom, code 19373, enterprise 32473 of RFC 5612). In network byte order: run 8,
 * count 8, first 8, frames 4, sensor 2; with events or refused frames, number of events 2; with
 * refused frames, their number 4. */
struct combo_name {
	uint64_t run, count;
	uint64_t first;	  /* frames of the run in earlier combos */
	uint32_t frames;  /* its frames, which follow in the file, except those that were */
	uint32_t refused; /* refused (collector/combo/frame_check.h), */
	uint16_t events;  /* and blocks of its dwells, clock readings and module events */
	uint16_t sensor;
};

/* Reads the value of an option OPT_CUSTOM. Returns false if it is no name. */
bool combo_name_read(struct combo_name *n, const uint8_t *value, size_t len);

/* Where a walk through a file is. Begin with zeros, and at a section header. */
struct combo_place {
	struct combo_name name; /* of the present combo */
	uint32_t left;		/* its blocks that follow; 0: in no combo */
};

/* Takes the next block of a frame, statistics, or a module's event. `name`: NULL if it has none.
 * Returns whether the present combo is complete with this block. */
bool combo_place_block(struct combo_place *p, const struct combo_name *name);

#endif
