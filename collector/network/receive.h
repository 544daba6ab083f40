/* SPDX-License-Identifier: GPL-2.0 */
/* Receive: reads the UDP socket, with many messages per system call, and many datagrams of one
 * sender per message (UDP_GRO, linux/udp.h), if the kernel has them so. */
#ifndef COLLECTOR_NETWORK_RECEIVE_H
#define COLLECTOR_NETWORK_RECEIVE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "datagram.h"

#define RECEIVE_MESSAGES 64	  /* per system call */
#define RECEIVE_MESSAGE_MAX 65536 /* bytes */
#define RECEIVE_SEGMENTS_MAX 128  /* datagrams per message: UDP_MAX_SEGMENTS of linux/udp.h */
#define RECEIVE_BEFORE_TURNS 1024 /* datagrams, before combos take turns; then a batch more */
/* Bytes. Datagrams that arrive while we write files wait in the kernel, and need no
 * retransmission. */
#define RECEIVE_BUFFER (64 * 1024 * 1024)

struct receive {
	int sock;
	bool inherited;	    /* a socket to one sensor, of the same machine */
	bool ended;	    /* that sensor has closed its end, and all was read */
	unsigned int count; /* datagrams of the last batch */
	bool full;	    /* the socket may have more of them */
	struct datagram datagrams[RECEIVE_MESSAGES * RECEIVE_SEGMENTS_MAX];
	struct mmsghdr messages[RECEIVE_MESSAGES];
	struct iovec iovecs[RECEIVE_MESSAGES];
	struct sockaddr_storage from[RECEIVE_MESSAGES];
	struct receive_control {
		_Alignas(struct cmsghdr) uint8_t bytes[CMSG_SPACE(sizeof(int))];
	} control[RECEIVE_MESSAGES];
	uint8_t buffers[RECEIVE_MESSAGES][RECEIVE_MESSAGE_MAX]; /* unwritten pages take no memory */
};

/* Binds. A receive buffer above net.core.rmem_max or a port below 1024 needs privilege. Returns 0,
 * or -errno after a line. */
int receive_init(struct receive *r, const char *host, const char *port);
/* Takes over the socket `fd`, which a parent has made: of type SOCK_SEQPACKET, connected to a
 * sensor (unix(7)). Its end is that sensor's end. Returns 0, or -errno after a line. */
int receive_inherit(struct receive *r, int fd);
/* Receives a batch: `datagrams`, which are valid until the next call. Without any, `count` is 0. */
void receive_batch(struct receive *r);
/* Returns the number of datagrams that the kernel dropped because the buffer was full. */
uint64_t receive_dropped(const struct receive *r);

#endif
