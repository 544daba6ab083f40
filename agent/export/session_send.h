/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Session send: seals messages into datagrams, and sends them with one sendmmsg(2). Where the
 * kernel can, datagrams of one length pass through it as one buffer, which the card or the kernel's
 * last stage cuts (UDP_SEGMENT, udp(7)): the way through the kernel then costs once, not for each.
 */
#ifndef AGENT_EXPORT_SESSION_SEND_H
#define AGENT_EXPORT_SESSION_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "wire/shroud.h"

/* 32-bit machines have little memory: a batch has the pieces of one combo. */
#define SESSION_SEND_MAX (sizeof(void *) == 4 ? 8 : 32)

struct session_send {
	unsigned int count;
	bool segments;	 /* the kernel may cut datagrams from a buffer (sockets.h) */
	bool one_by_one; /* Linux before 3.0 has no sendmmsg() */
	struct iovec iovecs[SESSION_SEND_MAX];
	struct mmsghdr messages[SESSION_SEND_MAX];
	union {
		struct cmsghdr head; /* for its alignment */
		uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
	} controls[SESSION_SEND_MAX]; /* the length of segments */
	uint8_t datagrams[SESSION_SEND_MAX][SHROUD_DATAGRAM_MAX];
};

/* The result of a batch; `refused`: -errno of the last datagram that the kernel refused, or 0. */
struct session_sent_counts {
	unsigned int datagrams;
	uint64_t bytes;
	int refused;
	bool too_big; /* one of them was too big for the path */
};

/* Seals one message into the batch, which has room. */
void session_send_seal(struct session_send *p, struct shroud_tx *tx, const uint8_t *message,
		       size_t len, size_t padded_len);
/* Sends and empties the batch. Datagrams that the kernel refuses count as lost. */
struct session_sent_counts session_send(struct session_send *p, int sock);

#endif
