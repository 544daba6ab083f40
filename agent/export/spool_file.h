/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spool file: how combos lie on the disk. One file, cut into segments of one size; a process writes
 * into segments of its own, one after the other, and never into one that an earlier process has
 * begun. A segment whose combos are all settled is free for another use. What a kill has left half
 * written is told by a check, with no key.
 *
 *     file      magic[16] segment_bytes[8], zeros to SPOOL_FIRST; segments
 *     segment   magic[8] order[8] run[8] stamp[8] E[32], for each of 4 collectors
 *               mark[8] wrapped[48], check[8], zeros to SPOOL_SEGMENT_HEAD; records
 *     record    len[4] kind[1] count[8] first[8] frames[4] check[8] data[len]
 *
 * A segment's first record is what the process said of itself then (SPOOL_INFO, a text); another
 * one of this kind is ahead of the combos that it is of.
 */
#ifndef AGENT_SPOOL_FILE_H
#define AGENT_SPOOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/spool.h"

#define SPOOL_SEGMENTS 16
#define SPOOL_FIRST 4096
#define SPOOL_SEGMENT_HEAD 512
#define SPOOL_SEGMENT_MIN (64 * 1024)
#define SPOOL_RECORD_HEAD 33

enum { SPOOL_COMBO = 1, SPOOL_TOTALS = 2, SPOOL_INFO = 3 };

/* Whose records a segment has, and what opens them. */
struct spool_head {
	uint64_t order; /* of segments, as they were begun */
	uint64_t run, stamp;
	uint8_t ephemeral[KEY_LEN];
	struct {
		uint8_t mark[8]; /* which collector's */
		uint8_t wrapped[SPOOL_WRAPPED_LEN];
	} peers[KEYS_PEERS_MAX];
};

struct spool_record {
	uint8_t kind;
	uint64_t count, first; /* the combo's, and how many frames of the run are before it */
	uint32_t frames, len;
	const uint8_t *data;
};

struct spool_file {
	int fd;
	uint64_t segment_bytes;
	uint8_t buffer[SPOOL_RECORD_HEAD + SPOOL_RECORD_MAX];
};

/* Opens or makes the file, for nobody else. Returns a descriptor, or -1 after a line. */
int spool_file_open(const char *path);
/* Reads how it is cut; a new one is for `bytes` in all. Returns 0, or -errno: -EPROTONOSUPPORT
 * where another version has made it, -EBADMSG where it is something else. */
int spool_file_begin(struct spool_file *f, int fd, uint64_t bytes);
/* Writes the file's own beginning, which is not there where it is empty. Returns 0 or -errno. */
int spool_file_write(struct spool_file *f);

/* Which collector a wrapped key is for: nobody else can tell. */
void spool_mark(uint8_t mark[8], const uint8_t peer[KEY_LEN], const uint8_t ephemeral[KEY_LEN]);
/* All return 0 or -errno, -EBADMSG for none. */
int spool_head_read(struct spool_file *f, unsigned int segment, struct spool_head *h);
int spool_head_write(struct spool_file *f, unsigned int segment, const struct spool_head *h);
int spool_head_erase(struct spool_file *f, unsigned int segment);
/* The record at `*at` of a segment, which then is behind it. `r->data` is valid until the next
 * call. -EFBIG where it does not fit in. */
int spool_record_read(struct spool_file *f, unsigned int segment, const struct spool_head *h,
		      uint64_t *at, struct spool_record *r);
int spool_record_write(struct spool_file *f, unsigned int segment, const struct spool_head *h,
		       uint64_t *at, const struct spool_record *r);

#endif
