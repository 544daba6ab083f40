/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages: the contents of Shroud's datagrams, with the kind in the first byte (docs/wire.md lists
 * them). Larger messages have files of their own: combos (combo.h), totals.h, progress.h, info.h,
 * order.h.
 */
#ifndef WIRE_MESSAGE_H
#define WIRE_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "keys.h"
#include "shroud.h"

enum message_kind {
	/* to the collector */
	MESSAGE_COMBO = 1,
	MESSAGE_TOTALS = 2,
	MESSAGE_INFO = 4,
	MESSAGE_HEARD = 5,
	MESSAGE_PROBE = 6,
	MESSAGE_ECHO = 7,
	MESSAGE_RENEW = 8,
	MESSAGE_ANSWER = 9,
	MESSAGE_FLOOR = 10,
	MESSAGE_PROGRESS = 11,
	/* to the sensor */
	MESSAGE_ACK = 3,
	MESSAGE_PROBED = 16,
	MESSAGE_CHALLENGE = 17,
	MESSAGE_RENEWED = 18,
	MESSAGE_ORDER = 19,
};

#define MESSAGE_MAX (SHROUD_DATAGRAM_MAX - SHROUD_OVERHEAD)
#define MESSAGE_HEARD_LEN 9
#define MESSAGE_PROBE_LEN 9
#define MESSAGE_ECHO_LEN 9
#define MESSAGE_RENEW_LEN (1 + KEY_LEN)
#define MESSAGE_FLOOR_LEN 17
#define MESSAGE_PROBED_LEN 25
#define MESSAGE_CHALLENGE_LEN 9
#define MESSAGE_RENEWED_LEN (1 + 2 * KEY_LEN)

/* ---- COMBO ----------------------------------------------------------------------------------- */

#define PIECE_HEADER_LEN 8
#define PIECE_UNIT 8 /* offsets are multiples, and lengths except at a combo's end */
/* Bytes of data of a piece in a datagram of `len` bytes. */
#define PIECE_DATA(len) (((len)-SHROUD_OVERHEAD - PIECE_HEADER_LEN) / PIECE_UNIT * PIECE_UNIT)
#define PIECE_DATA_MAX PIECE_DATA(SHROUD_DATAGRAM_MAX)
#define PIECE_COMBO_BITS 24
#define PIECE_COMBOS_AHEAD 64 /* most combos above the last that the collector took */

struct piece {
	uint32_t combo; /* 24 bits */
	uint16_t offset, total;
	const uint8_t *data;
	size_t len;
};

static inline void piece_header_write(uint8_t out[PIECE_HEADER_LEN], uint64_t combo,
				      uint16_t offset, uint16_t total)
{
	out[0] = MESSAGE_COMBO;
	store_be(out + 1, combo & 0xffffff, 3);
	store_be(out + 4, offset, 2);
	store_be(out + 6, total, 2);
}

/* Returns 0, or -1 if the piece is malformed. Points into `in`. */
static inline int piece_read(struct piece *p, const uint8_t *in, size_t len)
{
	if (len <= PIECE_HEADER_LEN)
		return -1;
	p->combo = load_be(in + 1, 3);
	p->offset = load_be(in + 4, 2);
	p->total = load_be(in + 6, 2);
	p->data = in + PIECE_HEADER_LEN;
	p->len = len - PIECE_HEADER_LEN;
	if (p->offset % PIECE_UNIT || p->offset + p->len > p->total)
		return -1;
	return p->len % PIECE_UNIT && p->offset + p->len < p->total ? -1 : 0;
}

/* ---- ACK ------------------------------------------------------------------------------------- */

#define ACK_LEN (1 + 8 + 32 + 8 + 8 + 8 + 1)
#define ACK_FINAL 1 /* the final totals arrived, and all their combos are settled */
#define ACK_WHOLE 2 /* combo `taken` is complete too, and waits to be written */
#define ACK_FULL 4  /* pieces were dropped since the last ACK for lack of memory */

struct ack {
	uint64_t highest;
	uint8_t received[SHROUD_BEHIND / 8];
	uint64_t taken, settled, held;
	uint8_t flags;
};

static inline void ack_write(uint8_t out[ACK_LEN], const struct ack *a)
{
	out[0] = MESSAGE_ACK;
	store_be(out + 1, a->highest, 8);
	memcpy(out + 9, a->received, 32);
	store_be(out + 41, a->taken, 8);
	store_be(out + 49, a->settled, 8);
	store_be(out + 57, a->held, 8);
	out[65] = a->flags;
}

/* Returns 0 or -1. */
static inline int ack_read(struct ack *a, const uint8_t *in, size_t len)
{
	if (len < ACK_LEN)
		return -1;
	a->highest = load_be(in + 1, 8);
	memcpy(a->received, in + 9, 32);
	a->taken = load_be(in + 41, 8);
	a->settled = load_be(in + 49, 8);
	a->held = load_be(in + 57, 8);
	a->flags = in[65];
	return 0;
}

/* Whether this ACK says that datagram `number` was received and kept. */
static inline int ack_has(const struct ack *a, uint64_t number)
{
	uint64_t n = a->highest - number;

	return number <= a->highest && n < SHROUD_BEHIND && (a->received[n / 8] >> n % 8 & 1);
}

#endif
