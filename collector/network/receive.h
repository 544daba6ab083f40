/* SPDX-License-Identifier: GPL-2.0 */
/* Receive: the UDP socket, many datagrams a system call. */
#ifndef COLLECTOR_NETWORK_RECEIVE_H
#define COLLECTOR_NETWORK_RECEIVE_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define RECEIVE_BATCH 64
#define RECEIVE_BATCHES 16	  /* at most, before combos have their turns */
#define RECEIVE_DATAGRAM_MAX 2048 /* longer ones are cut, and are then not ours */
/* What arrives while we write waits in the kernel, and need not be sent again. */
#define RECEIVE_BUFFER (64 * 1024 * 1024)

struct receive {
	int sock;
	struct mmsghdr messages[RECEIVE_BATCH];
	struct iovec iovecs[RECEIVE_BATCH];
	struct sockaddr_storage from[RECEIVE_BATCH];
	uint8_t datagrams[RECEIVE_BATCH][RECEIVE_DATAGRAM_MAX];
};

/* Binds. Needs privilege for a receive buffer beyond net.core.rmem_max and a port below 1024.
 * Returns 0, or -errno after a line. */
int receive_init(struct receive *r, const char *host, const char *port);
/* Returns how many datagrams came (their bytes in messages[i].msg_len), 0 where none is there. */
int receive_batch(struct receive *r);
/* Datagrams the kernel dropped because the buffer was full. */
uint64_t receive_dropped(const struct receive *r);

#endif
