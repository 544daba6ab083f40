/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a sealed datagram holds: one message, its kind in the first byte.
 *
 *     PIECE_COMBO    kind 1, combo number 3 (low bits of the count), offset 2, total 2, bytes
 *     PIECE_TOTALS   kind 1, totals (totals.h)                      sensor -> collector
 *     PIECE_INFO     kind 1, text (info.h)                          sensor -> collector
 *     PIECE_RECEIPT  kind 1, highest datagram counter heard 8, flags 1  collector -> sensor
 *
 * A combo is cut into pieces so that no datagram exceeds the path's MTU: UDP payloads are at
 * most WIRE_DATAGRAM_MAX bytes, never left to IP fragmentation.
 */
#ifndef WIRE_PIECE_H
#define WIRE_PIECE_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "seal.h"

#define WIRE_DATAGRAM_MAX 1400

enum {
	PIECE_COMBO = 1,
	PIECE_TOTALS = 2,
	PIECE_RECEIPT = 3,
	PIECE_INFO = 4,
};

#define PIECE_HEADER_LEN 8
#define PIECE_DATA_MAX (WIRE_DATAGRAM_MAX - SEAL_OVERHEAD - PIECE_HEADER_LEN)
#define PIECE_COMBO_BITS 24

#define RECEIPT_LEN 10
#define RECEIPT_FINAL 1 /* the final totals have been heard */

struct piece {
	uint32_t combo; /* 24 bits */
	uint16_t offset, total;
	const uint8_t *data;
	size_t len;
};

static inline void piece_header_write(uint8_t out[PIECE_HEADER_LEN], uint64_t combo,
				      uint16_t offset, uint16_t total)
{
	out[0] = PIECE_COMBO;
	store_be(out + 1, combo & 0xffffff, 3);
	store_be(out + 4, offset, 2);
	store_be(out + 6, total, 2);
}

/* Returns 0, or -1 where the piece contradicts itself. Points into `in`. */
static inline int piece_read(struct piece *p, const uint8_t *in, size_t len)
{
	if (len <= PIECE_HEADER_LEN)
		return -1;
	p->combo = load_be(in + 1, 3);
	p->offset = load_be(in + 4, 2);
	p->total = load_be(in + 6, 2);
	p->data = in + PIECE_HEADER_LEN;
	p->len = len - PIECE_HEADER_LEN;
	/* Every piece but the last is full, so its place tells which one it is. */
	if (p->offset % PIECE_DATA_MAX || p->offset + p->len > p->total)
		return -1;
	if (p->offset + p->len < p->total && p->len != PIECE_DATA_MAX)
		return -1;
	return 0;
}

#endif
