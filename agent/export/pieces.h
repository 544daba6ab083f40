/* SPDX-License-Identifier: GPL-2.0 */
/* Seal: messages become sealed datagrams, laid out for one sendmmsg(2), and go. */
#ifndef AGENT_PIECES_H
#define AGENT_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "wire/shroud.h"

/* Where a word has 32 bits memory is short: a batch is what a combo is cut into. */
#define PIECES_MAX (sizeof(void *) == 4 ? 8 : 32)

struct pieces {
	unsigned int count;
	bool one_by_one; /* before Linux 3.0 there is no sendmmsg() */
	struct iovec iovecs[PIECES_MAX];
	struct mmsghdr messages[PIECES_MAX];
	uint8_t datagrams[PIECES_MAX][SHROUD_DATAGRAM_MAX];
};

/* What became of a batch; `refused` is -errno of the last that the kernel did not take, or 0. */
struct pieces_sent {
	unsigned int datagrams;
	uint64_t bytes;
	int refused;
	bool too_big; /* one of them was, for the path */
};

/* Seals one message into the batch, which has room. */
void pieces_seal(struct pieces *p, struct shroud_tx *tx, const uint8_t *message, size_t len,
		 size_t padded_len);
/* Sends the batch, which is empty then. What the kernel does not take is lost, as on the way. */
struct pieces_sent pieces_send(struct pieces *p, int sock);

#endif
