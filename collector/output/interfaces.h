/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interfaces: chooses a frame's interface block in the output. A block has one link type, one
 * interface of one sensor, and its description at the time of writing. Blocks cannot be changed. If
 * the description changes (a new filter, another hook, a new run), later frames get a new block, or
 * an older one with this description.
 *
 * Always holds: a sensor has at most INTERFACES_BLOCKS_MAX blocks in a section, plus
 * INTERFACES_EXTRA_MAX, plus one per INTERFACES_EXTRA_NS. Every block costs space, and time in each
 * program that reads the file. When a sensor has used them up, its frames use the newest block of
 * their link type and interface. Without one they are refused (frame_check.h).
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

#define INTERFACES_EXTRA_MAX 480 /* together 512 at once */
#define INTERFACES_EXTRA_NS 10000000000ULL

struct sensor;

/* Takes the sensor's new description `info`, which its `info` has as text. */
void interfaces_describe(struct sensor *s, const struct info *info);
/* Returns an interface's name, or its number as text in `number`. */
const char *interfaces_name(const struct sensor *s, uint8_t interface, char number[4]);
/* Starts a new section if necessary. Call it before those below. */
void interfaces_begin(struct sensor *s, unsigned int section, uint64_t now_ns);
/* The sensor's name has changed: it gets new blocks. */
void interfaces_forget(struct sensor *s);
/* The sensor's run has ended: the next one's description may differ. */
void interfaces_run_end(struct sensor *s);
/* Whether frames of this link type and interface, or dwells of the interface, have a block and need
 * no new one. */
bool interfaces_known(const struct sensor *s, uint16_t linktype, uint8_t interface);
bool interfaces_dwell_known(const struct sensor *s, uint8_t interface);
/* Whether the sensor has any block. */
bool interfaces_any(const struct sensor *s);
/* Returns how many new blocks the sensor may have now. */
unsigned int interfaces_left(const struct sensor *s);
/* Counts a frame, and returns its block's id. A new block has the id `next` and is written to
 * `block` (PCAPNG_META_MAX). `len`: set to its bytes, or 0. */
uint32_t interfaces_frame(struct sensor *s, const struct combo_frame *f, uint32_t next,
			  uint8_t *block, size_t *len);
/* Returns the id of a dwell's block: the interface's newest one with the current description, of
 * any link type. Without one, makes one for radiotap, or for another 802.11 header that the sensor
 * may send. */
uint32_t interfaces_dwell(struct sensor *s, const struct dwell *d, uint32_t next, uint8_t *block,
			  size_t *len);
/* Returns the id of the sensor's newest block, which stands for the whole sensor. Without one,
 * makes the one that the frame `f` will use. */
uint32_t interfaces_newest(struct sensor *s, const struct combo_frame *f, uint32_t next,
			   uint8_t *block, size_t *len);
/* Whether the i-th block belongs to the current run: then it has statistics. */
bool interfaces_present(const struct sensor *s, unsigned int i);
/* Whether the i-th block is its interface's first one in the current run. */
bool interfaces_is_first(const struct sensor *s, unsigned int i);
/* Fills in the i-th block's statistics, without a comment. The hook's counts of the current run are
 * in each interface's first block, as they do not distinguish link types or descriptions. */
void interfaces_statistics(const struct sensor *s, unsigned int i, struct pcapng_statistics *st);

#endif
