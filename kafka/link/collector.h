/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Collector: the connection to saluki-collector's socket (wire/put.h). In: packets, many for each
 * call of the kernel. Out: packets. Always holds: nothing waits; packets are passed on only after
 * the collector's HELLO.
 */
#ifndef KAFKA_LINK_COLLECTOR_H
#define KAFKA_LINK_COLLECTOR_H

#include <stdbool.h>
#include <sys/socket.h>

#include "wire/put.h"

#define COLLECTOR_BATCH 64 /* packets for each call of the kernel */

struct collector {
	const char *path;
	enum put_role role; /* ours */
	int fd;		    /* -1: not connected */
	bool greeted;	    /* its HELLO has come */
	bool said;	    /* that there is no collector, or no answer */
	uint64_t next_ns;   /* when to connect again */
	uint64_t hello_ns;  /* until when its HELLO should have come */
	uint64_t connections;
	struct mmsghdr *packets; /* the last batch */
	struct iovec *pieces;
	uint8_t *bytes;
};

/* Returns 0 or -ENOMEM. */
int collector_init(struct collector *c, const char *path, enum put_role role);
/* Connects, at most once a second; logs that no HELLO comes. Returns whether it has connected. */
bool collector_connect(struct collector *c, uint64_t now_ns);
/* Returns the number of packets, 0: there are none, or -errno after a line. Packets[n] is valid
 * until the next call. */
int collector_receive(struct collector *c);
const uint8_t *collector_packet(const struct collector *c, int n, size_t *len);
/* Returns 0, -EAGAIN: it takes nothing more at present, or -errno. */
int collector_send(struct collector *c, const void *packet, size_t len);
/* Returns how many of the packets it has taken, or -errno; 0: it takes nothing at present. */
int collector_send_batch(struct collector *c, struct mmsghdr *packets, unsigned int count);
/* Disconnects, and logs it. `why`: NULL: the collector has ended the connection. */
void collector_leave(struct collector *c, const char *why);
void collector_free(struct collector *c);

#endif
