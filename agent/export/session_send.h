/* SPDX-License-Identifier: GPL-2.0 */
/* Session send: messages become sealed datagrams, laid out for one sendmmsg(2), and go. */
#ifndef AGENT_EXPORT_SESSION_SEND_H
#define AGENT_EXPORT_SESSION_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "wire/shroud.h"

/* Where a word has 32 bits memory is short: a batch is what a combo is cut into. */
#define SESSION_SEND_MAX (sizeof(void *) == 4 ? 8 : 32)

struct session_send {
	unsigned int count;
	bool one_by_one; /* before Linux 3.0 there is no sendmmsg() */
	struct iovec iovecs[SESSION_SEND_MAX];
	struct mmsghdr messages[SESSION_SEND_MAX];
	uint8_t datagrams[SESSION_SEND_MAX][SHROUD_DATAGRAM_MAX];
};

/* What became of a batch; `refused` is -errno of the last that the kernel did not take, or 0. */
struct session_sent_counts {
	unsigned int datagrams;
	uint64_t bytes;
	int refused;
	bool too_big; /* one of them was, for the path */
};

/* Seals one message into the batch, which has room. */
void session_send_seal(struct session_send *p, struct shroud_tx *tx, const uint8_t *message,
		       size_t len, size_t padded_len);
/* Sends the batch, which is empty then. What the kernel does not take is lost, as on the way. */
struct session_sent_counts session_send(struct session_send *p, int sock);

#endif
