/* SPDX-License-Identifier: GPL-2.0 */
/* Cut and seal: a combo becomes sealed datagrams, laid out for one sendmmsg(2). */
#ifndef AGENT_PIECES_H
#define AGENT_PIECES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "wire/combo.h"
#include "wire/piece.h"
#include "wire/seal.h"

#define PIECES_MAX ((COMBO_WIRE_MAX + PIECE_DATA_MAX - 1) / PIECE_DATA_MAX)

struct pieces {
	uint8_t datagrams[PIECES_MAX][WIRE_DATAGRAM_MAX];
	struct iovec iovecs[PIECES_MAX];
	struct mmsghdr messages[PIECES_MAX];
};

/* Cuts the `len` bytes of a combo, COMBO_WIRE_MAX at most, into sealed pieces. `combo` is its
 * number. Returns how many. */
unsigned int pieces_seal(struct pieces *p, struct seal_tx *tx, uint64_t combo, const uint8_t *wire,
			 size_t len);
/* Seals one message into one datagram. Returns 1. */
unsigned int pieces_seal_one(struct pieces *p, struct seal_tx *tx, const uint8_t *message,
			     size_t len);

#endif
