// SPDX-License-Identifier: GPL-2.0
/* Cut and seal: see pieces.h. */
#include "pieces.h"

#include <string.h>

static void seal(struct pieces *p, unsigned int i, struct seal_tx *tx, const uint8_t *message,
		 size_t len)
{
	p->iovecs[i].iov_base = p->datagrams[i];
	p->iovecs[i].iov_len = seal_datagram(tx, p->datagrams[i], message, len);
	memset(&p->messages[i], 0, sizeof(p->messages[i]));
	p->messages[i].msg_hdr.msg_iov = &p->iovecs[i];
	p->messages[i].msg_hdr.msg_iovlen = 1;
}

unsigned int pieces_seal(struct pieces *p, struct seal_tx *tx, uint64_t combo, const uint8_t *wire,
			 size_t len)
{
	uint8_t message[PIECE_HEADER_LEN + PIECE_DATA_MAX];
	unsigned int n = 0;

	for (size_t at = 0; at < len; at += PIECE_DATA_MAX, n++) {
		size_t piece = len - at < PIECE_DATA_MAX ? len - at : PIECE_DATA_MAX;

		piece_header_write(message, combo, at, len);
		memcpy(message + PIECE_HEADER_LEN, wire + at, piece);
		seal(p, n, tx, message, PIECE_HEADER_LEN + piece);
	}
	return n;
}

unsigned int pieces_seal_one(struct pieces *p, struct seal_tx *tx, const uint8_t *message,
			     size_t len)
{
	seal(p, 0, tx, message, len);
	return 1;
}
