/* SPDX-License-Identifier: GPL-2.0 */
/* Receive: reads the UDP socket, with many datagrams per system call. */
#ifndef COLLECTOR_NETWORK_RECEIVE_H
#define COLLECTOR_NETWORK_RECEIVE_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define RECEIVE_BATCH 64
#define RECEIVE_BATCHES 16	  /* at most, before combos take turns */
#define RECEIVE_DATAGRAM_MAX 2048 /* longer ones are truncated, and then ignored */
/* Bytes. Datagrams that arrive while we write files wait in the kernel, and need no
 * retransmission. */
#define RECEIVE_BUFFER (64 * 1024 * 1024)

struct receive {
	int sock;
	struct mmsghdr messages[RECEIVE_BATCH];
	struct iovec iovecs[RECEIVE_BATCH];
	struct sockaddr_storage from[RECEIVE_BATCH];
	uint8_t datagrams[RECEIVE_BATCH][RECEIVE_DATAGRAM_MAX];
};

/* Binds. A receive buffer above net.core.rmem_max or a port below 1024 needs privilege. Returns 0,
 * or -errno after a line. */
int receive_init(struct receive *r, const char *host, const char *port);
/* Returns the number of received datagrams, 0 if there are none. messages[i].msg_len is their
 * length. */
int receive_batch(struct receive *r);
/* Returns the number of datagrams that the kernel dropped because the buffer was full. */
uint64_t receive_dropped(const struct receive *r);

#endif
