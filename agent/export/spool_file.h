/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spool file: the format of combos on the disk. One file with segments of one size. A process
 * writes to its own segments, one after the other, and never to an earlier process's segment. A
 * segment is free when all its combos are settled. A check without a key detects incomplete
 * records.
 *
 *     file      magic[16] segment_bytes[8], zeros to SPOOL_FIRST; segments
 *     segment   magic[8] order[8] run[8] stamp[8] E[32], for each of 4 collectors
 *               mark[8] wrapped[48], check[8], zeros to SPOOL_SEGMENT_HEAD; records
 *     record    len[4] kind[1] count[8] first[8] frames[4] check[8] data[len]
 *
 * A segment's first record is the process's description (SPOOL_INFO, a text). Another one of this
 * kind comes before the combos that it describes.
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
#define SPOOL_MARK_LEN 8

enum { SPOOL_COMBO = 1, SPOOL_TOTALS = 2, SPOOL_INFO = 3 };

/* A segment's head: its owner, and the wrapped keys. */
struct spool_head {
	unsigned int segment; /* its place in the file */
	uint64_t order;	      /* rises with each new segment */
	uint64_t run, stamp;
	uint8_t ephemeral[KEY_LEN];
	/* Each names a collector by its mark, and has the key wrapped for it. */
	uint8_t peers[KEYS_PEERS_MAX][SPOOL_MARK_LEN + SPOOL_WRAPPED_LEN];
};

struct spool_record {
	uint8_t kind;
	uint64_t count, first; /* the combo's, and the frames of the run before it */
	uint32_t frames, len;
	const uint8_t *data;
};

struct spool_file {
	int fd;
	uint64_t segment_bytes;
};

/* Opens or makes the file, locks it, and begins. Returns NULL, or why it cannot be used. The caller
 * closes it. */
const char *spool_file_open(struct spool_file *f, const char *path, uint64_t bytes);
/* Reads the file's layout; a new file gets `bytes` in all. Returns 0; -EPROTONOSUPPORT if another
 * version made it; -EBADMSG if it is no spool; or another -errno. */
int spool_file_begin(struct spool_file *f, int fd, uint64_t bytes);

/* Names the collector of a wrapped key, in a form that only sensor and collector know. */
void spool_mark(uint8_t mark[SPOOL_MARK_LEN], const uint8_t peer[KEY_LEN],
		const uint8_t ephemeral[KEY_LEN]);
/* All return 0 or -errno; -EBADMSG: no valid record. Writing a segment's head writes the file's
 * too. */
int spool_head_read(struct spool_file *f, unsigned int segment, struct spool_head *h);
int spool_head_write(struct spool_file *f, const struct spool_head *h);
void spool_head_erase(struct spool_file *f, unsigned int segment);
/* Reads the record at `*at` of a segment, and moves `*at` past it. */
int spool_record_read(struct spool_file *f, const struct spool_head *h, uint64_t *at,
		      struct spool_record *r, uint8_t data[SPOOL_RECORD_MAX]);
/* As above; -EFBIG if it does not fit. */
int spool_record_write(struct spool_file *f, const struct spool_head *h, uint64_t *at,
		       const struct spool_record *r);

#endif
