/* SPDX-License-Identifier: GPL-2.0 */
/* Index build: makes an index while the blocks of a file pass. In: blocks and frames in the file's
 * order. Out: the index, as bytes. */
#ifndef ARCHIVE_INDEX_BUILD_H
#define ARCHIVE_INDEX_BUILD_H

#include "index.h"

/* More addresses, or places of addresses, are not listed: anyone can invent addresses. */
#define INDEX_ADDRESSES_MAX (1024 * 1024)
#define INDEX_PLACES_MAX (16 * 1024 * 1024)

struct index_build;

/* Returns NULL without memory. */
struct index_build *index_build_new(void);
void index_build_free(struct index_build *b);

/* All return 0 or -ENOMEM. */
/* A block begins at `at` of the pcapng file. `describes`: frames of later chunks cannot be read
 * without it. */
int index_block(struct index_build *b, uint64_t at, bool describes);
/* Returns the sensor's number, from 0, or -ENOMEM. The same name and group have one number. */
int index_sensor(struct index_build *b, const char *name, const char *group, uint16_t id);
/* The block is a frame. */
void index_frame(struct index_build *b, int64_t ns);
/* A sensor has heard it. */
int index_heard(struct index_build *b, int sensor, int64_t ns);
int index_address(struct index_build *b, const uint8_t address[6]);
/* A combo of the run is complete: all before `next` are. */
int index_combo(struct index_build *b, const struct index_run *run);

/* Returns the frames so far. */
uint64_t index_frames(const struct index_build *b);

/* Lays the index out. `head`: all but what the builder knows (times, frames, all_addresses). The
 * caller frees `*bytes`. Returns 0 or -ENOMEM. */
int index_finish(struct index_build *b, const struct index_head *head, uint8_t **bytes,
		 size_t *len);

#endif
