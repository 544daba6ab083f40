/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shroud: the data path (docs/wire.md; the name is SlyFi's, MobiSys 2008). Each datagram of a
 * direction has a number, from 1, and of it an address and a nonce. The sender counts; the receiver
 * knows the addresses that may come: some ahead of the highest number it has received, and those of
 * the last 256 that have not come yet.
 */
#ifndef WIRE_SHROUD_H
#define WIRE_SHROUD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "derive.h"
#include "keys.h"
#include "table.h"

#define SHROUD_ADDRESS_LEN 8
#define SHROUD_OVERHEAD (SHROUD_ADDRESS_LEN + DERIVE_TAG_LEN) /* bytes beyond a message */
#define SHROUD_DATAGRAM_MAX 1400			      /* bytes of UDP payload */
#define SHROUD_DATAGRAM_PADDED 1232			      /* IPv6's least MTU of 1,280 */
#define SHROUD_BEHIND 256
#define SHROUD_WINDOW_MIN 64
#define SHROUD_WINDOW_MAX 65536
#define SHROUD_WINDOW_DOWN 256
#define SHROUD_PADDED 0x80 /* of a message's kind: its end is padding */

struct shroud_keys {
	uint8_t address[KEY_LEN], seal[KEY_LEN];
};

/* 64 bytes of an address key's stream: those of eight datagrams. */
struct shroud_block {
	uint64_t index; /* which 64 bytes; ~0: none yet */
	uint8_t bytes[64];
};

/* ---- sending --------------------------------------------------------------------------------- */

struct shroud_tx {
	struct shroud_keys keys;
	uint64_t next; /* number of the next datagram */
	struct shroud_block block;
};

void shroud_tx_init(struct shroud_tx *tx, const struct shroud_keys *keys);
/* Seals `len` bytes, the message's kind the first, into `out`; with `padded_len` the datagram has
 * that many bytes, for which the message leaves two at least. Returns the datagram's bytes. */
size_t shroud_seal(struct shroud_tx *tx, uint8_t *out, const uint8_t *message, size_t len,
		   size_t padded_len);
/* How far above an acknowledged number its sender may go: half of what the receiver knows. */
uint64_t shroud_room(uint64_t acknowledged, uint32_t window);

/* ---- receiving ------------------------------------------------------------------------------- */

struct shroud_rx {
	struct shroud_keys keys;
	uint32_t owner;	  /* of its addresses in the table */
	uint32_t window;  /* addresses ahead, at most */
	uint64_t highest; /* number received so far, 0: none */
	uint64_t ahead;	  /* the highest whose address is in the table */
	bool whole;	  /* the window is, from the session's first datagram on (shroud_rx_move) */
	uint64_t received[SHROUD_BEHIND / 64]; /* bit n % 256: n was, of the last 256 */
	uint64_t kept[SHROUD_BEHIND / 64];     /* and its message was kept (shroud_keep) */
	struct shroud_block block, behind;
};

/* Puts the first addresses into the table. Returns 0 or -ENOMEM, and then none is there. */
int shroud_rx_init(struct shroud_rx *rx, struct table *t, const struct shroud_keys *keys,
		   uint32_t owner, uint32_t window);
/* Takes all its addresses out of the table, and wipes its keys. Takes a zeroed one. */
void shroud_rx_free(struct shroud_rx *rx, struct table *t);
/* The sender, which hears nothing, says that its next number is `next`: the window goes there,
 * never back, and all of it is known ahead from now on. */
void shroud_rx_move(struct shroud_rx *rx, struct table *t, uint64_t next);
/* Opens a datagram that the table has under `low` for this owner. Returns the message's bytes,
 * padding taken off (0 where that contradicts itself), or -EBADMSG where it is not authentic, and
 * then nothing has changed: another entry with its address may be tried. `number` is the
 * datagram's. `out` takes `len` bytes. */
long shroud_open(struct shroud_rx *rx, struct table *t, uint32_t low, uint64_t *number,
		 uint8_t *out, const uint8_t *in, size_t len);
/* How many numbers the datagram under `low` leaves out: those above the highest that was received,
 * and below its own. To open it takes as much work as they are. */
static inline uint32_t shroud_skips(const struct shroud_rx *rx, uint32_t low)
{
	int32_t ahead = low - (uint32_t)rx->highest;

	return ahead > 1 ? ahead - 1 : 0;
}

/* Datagram `number`'s message was kept: it is acknowledged. */
void shroud_keep(struct shroud_rx *rx, uint64_t number);
/* Writes ACK's `received`: bit n: highest - n was received and kept. */
void shroud_received(const struct shroud_rx *rx, uint8_t out[SHROUD_BEHIND / 8]);

#endif
