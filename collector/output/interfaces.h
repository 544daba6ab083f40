/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interfaces: under which interface block of the output a frame goes. A block has one link type,
 * one interface of one sensor, and what the sensor said of it when the block was written. Blocks
 * cannot be changed: where the sensor says something else (its filter was replaced, it is attached
 * by another hook, it has begun another run), the frames that follow go under a block of their own,
 * or back to the one that says this.
 *
 * Always holds: a sensor has at most INTERFACES_BLOCKS_MAX blocks in a section, and beyond them
 * INTERFACES_EXTRA_MAX and one each INTERFACES_EXTRA_NS. Every block costs the file, and each
 * program that reads it. When a sensor has used them up, its frames stay under the newest block of
 * their link type and interface; where there is none, they are refused (frame_check.h).
 */
#ifndef COLLECTOR_OUTPUT_INTERFACES_H
#define COLLECTOR_OUTPUT_INTERFACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcapng.h"
#include "wire/combo.h"
#include "wire/dwell.h"
#include "wire/info.h"

#define INTERFACES_EXTRA_MAX 480 /* with those: 512 at once */
#define INTERFACES_EXTRA_NS 10000000000ULL

struct sensor;

/* What the sensor says from now on: `info`, which also is in its `info` as text. */
void interfaces_describe(struct sensor *s, const struct info *info);
/* The name of an interface, or its number, where that is all there is, by way of `number`. */
const char *interfaces_name(const struct sensor *s, uint8_t interface, char number[4]);
/* What is known of a sensor's blocks is of this section from now on. Before any of those below. */
void interfaces_begin(struct sensor *s, unsigned int section, uint64_t now_ns);
/* The sensor has another name: it gets new blocks. */
void interfaces_forget(struct sensor *s);
/* The sensor's run has ended: what it says of itself may differ in the next. */
void interfaces_run_end(struct sensor *s);
/* Whether there is a block for frames of this link type and interface, or for dwells of the
 * interface: then they need no new one. */
bool interfaces_known(const struct sensor *s, uint16_t linktype, uint8_t interface);
bool interfaces_dwell_known(const struct sensor *s, uint8_t interface);
/* How many new blocks the sensor may have now. */
unsigned int interfaces_left(const struct sensor *s);
/* Counts a frame, and returns the id of the block it goes under. Where that is a new one, which
 * then has the number `next`, it is written to `block` (PCAPNG_META_MAX); `len` are its bytes or
 * 0. */
uint32_t interfaces_frame(struct sensor *s, const struct combo_frame *f, uint32_t next,
			  uint8_t *block, size_t *len);
/* The id of the block that a dwell goes under: the interface's newest one that says what is to be
 * said, whatever its link type. Where there is none it is one as of a frame with radiotap, or
 * with another header of 802.11 that the sensor may send. */
uint32_t interfaces_dwell(struct sensor *s, const struct dwell *d, uint32_t next, uint8_t *block,
			  size_t *len);
/* Whether the i-th block is of the present run: then it has statistics. */
bool interfaces_present(const struct sensor *s, unsigned int i);
/* Whether the i-th block is its interface's first one in the present run. */
bool interfaces_is_first(const struct sensor *s, unsigned int i);
/* The statistics of the i-th block, without a comment. What the hook counted in the present run is
 * in those of each interface's first block: it tells neither link types nor descriptions apart. */
void interfaces_statistics(const struct sensor *s, unsigned int i, struct pcapng_statistics *st);

#endif
