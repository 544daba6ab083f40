/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shroud: the data path (docs/wire.md; the name is SlyFi's, MobiSys 2008). Each datagram of a
 * direction has a number, from 1, which determines its address and nonce. The sender counts. The
 * receiver knows the addresses that may come: some above the highest number it received, and those
 * of the last 256 that are still missing.
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
#define SHROUD_PADDED 0x80 /* bit of a message's kind: it ends with padding */

struct shroud_keys {
	uint8_t address[KEY_LEN], seal[KEY_LEN];
};

/* 64 bytes of an address key's stream: the addresses of eight datagrams. */
struct shroud_block {
	uint64_t index; /* index of the 64 bytes; ~0: none yet */
	uint8_t bytes[64];
};

/* ---- sending --------------------------------------------------------------------------------- */

struct shroud_tx {
	struct shroud_keys keys;
	uint64_t next; /* number of the next datagram */
	struct shroud_block block;
};

void shroud_tx_init(struct shroud_tx *tx, const struct shroud_keys *keys);
/* Seals `len` bytes, which begin with the message's kind, into `out`. With `padded_len` the
 * datagram is padded to this length, which needs at least two bytes. Returns the datagram's
 * bytes. */
size_t shroud_seal(struct shroud_tx *tx, uint8_t *out, const uint8_t *message, size_t len,
		   size_t padded_len);
/* How far the sender may go above an acknowledged number: half of the receiver's window. */
uint64_t shroud_room(uint64_t acknowledged, uint32_t window);

/* ---- receiving ------------------------------------------------------------------------------- */

struct shroud_rx {
	uint32_t owner;	  /* of its addresses in the table */
	uint32_t window;  /* most addresses ahead */
	uint64_t highest; /* number received so far, 0: none */
	uint64_t ahead;	  /* the highest whose address is in the table */
	bool whole;	  /* the full window counts from the first datagram on (shroud_rx_move) */
	uint64_t received[SHROUD_BEHIND / 64]; /* bit n % 256: n of the last 256 was received */
	uint64_t kept[SHROUD_BEHIND / 64];     /* and its message was kept (shroud_keep) */
	struct shroud_keys keys;
	struct shroud_block block, behind;
};

/* Puts the first addresses into the table. Returns 0, or -ENOMEM and has added none. */
int shroud_rx_init(struct shroud_rx *rx, struct table *t, const struct shroud_keys *keys,
		   uint32_t owner, uint32_t window);
/* Removes all its addresses from the table, and wipes its keys. Accepts a zeroed one. */
void shroud_rx_free(struct shroud_rx *rx, struct table *t);
/* A one-way sender announces that its next number is `next`. The window moves there, never back,
 * and from now on is known in full. */
void shroud_rx_move(struct shroud_rx *rx, struct table *t, uint64_t next);
/* Opens a datagram that the table has under `low` for this owner. Returns the message's bytes
 * without padding (0 if the padding is malformed), or -EBADMSG if it is not authentic. After
 * -EBADMSG `rx` and the table are as before, and the caller may try another entry with this
 * address. `number`: set to the datagram's number. `out` takes `len` bytes. */
long shroud_open(struct shroud_rx *rx, struct table *t, uint32_t low, uint64_t *number,
		 uint8_t *out, const uint8_t *in, size_t len);
/* Prefetches the table's entries that the next datagrams add. */
void shroud_prefetch(const struct shroud_rx *rx, const struct table *t);
/* How many numbers the datagram under `low` skips: those between the highest received and its own.
 * Opening it costs work in proportion. */
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
