/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interfaces: under which interface block of the output a frame goes. A block has one link type,
 * one interface of one sensor, and what the sensor said of it when the block was written. Blocks
 * cannot be changed: where the sensor says something else (its filter was replaced, it is attached
 * by another hook), the frames that follow go under a block of their own, or back to the one that
 * says this. A sensor has at most INTERFACES_BLOCKS_MAX of them in a section; if it changes its
 * mind more often, its frames stay under the newest, so that it cannot fill files by that.
 */
#ifndef COLLECTOR_INTERFACES_H
#define COLLECTOR_INTERFACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcapng.h"
#include "wire/combo.h"
#include "wire/dwell.h"
#include "wire/info.h"

#define INTERFACES_BLOCKS_MAX 32
#define INTERFACES_NAME_MAX 16 /* IFNAMSIZ; what is longer is cut */

/* A sensor's interface blocks in the present section. */
struct interfaces {
	unsigned int section; /* of which the ids are; an older one makes them void */
	unsigned int count;
	unsigned int turn; /* which of all is to be forgotten next */
	unsigned int last; /* block of the frame before, or any */
	struct interfaces_block {
		uint64_t described; /* as what it is described */
		uint16_t linktype;
		uint8_t interface;
		uint32_t id;
		uint64_t first_ns, last_ns, frames;
	} list[INTERFACES_BLOCKS_MAX];
	/* A hash of what the sensor says by now of each interface and of itself. */
	uint64_t described[INFO_INTERFACES_MAX];
	char names[INFO_INTERFACES_MAX][INTERFACES_NAME_MAX]; /* "": it has not said one */
};

struct sensor;

/* What the sensor says from now on: `info`, which also is in its `info` as text. */
void interfaces_describe(struct sensor *s, const struct info *info);
/* The name of an interface, or its number, where that is all there is, by way of `number`. */
const char *interfaces_name(const struct sensor *s, uint8_t interface, char number[4]);
/* Counts a frame, and returns the id of the block it goes under. Where that is a new one, which
 * then has the number `next`, it is written to `block` (PCAPNG_META_MAX); `len` are its bytes or
 * 0. */
uint32_t interfaces_frame(struct sensor *s, const struct combo_frame *f, uint32_t next,
			  uint8_t *block, size_t *len);
/* The id of the block that a dwell goes under: the interface's newest one that says what is to be
 * said, whatever its link type. Where there is none it is one as of a frame with radiotap. */
uint32_t interfaces_dwell(struct sensor *s, const struct dwell *d, uint32_t next, uint8_t *block,
			  size_t *len);
/* Whether the i-th block is its interface's first one. */
bool interfaces_is_first(const struct sensor *s, unsigned int i);
/* The statistics of the i-th block, without a comment. What the hook counted in the present run is
 * in those of each interface's first block: it tells neither link types nor descriptions apart. */
void interfaces_statistics(const struct sensor *s, unsigned int i, struct pcapng_statistics *st);

#endif
