/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel counts at a packet socket and at its census (packet_socket.h). It forgets its
 * counts when it is asked, so whoever asks adds them to a page that both processes have mapped. In:
 * the two sockets. Out: frames offered, lost, and refused by the filter. Always holds: every count
 * the kernel gave is in the page once; numbers there are modulo 2^32.
 */
#ifndef AGENT_RINGS_PACKET_COUNTS_H
#define AGENT_RINGS_PACKET_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct packet_counts {
	uint32_t packets;  /* passed the filter; what was lost behind it included */
	uint32_t drops;	   /* of these, lost: there was no space */
	uint32_t census;   /* frames the census was offered */
	uint32_t before;   /* `packets` when the census began to count, `census` at that time
			      subtracted */
	uint32_t counting; /* the census is in use */
	uint32_t stopped;  /* nothing is offered to the socket, and these are final */
};

/* Returns a descriptor of a page of them, all zero, or -errno. */
int packet_counts_open(void);
/* Maps that page: one struct packet_counts an interface. NULL where it fails. */
struct packet_counts *packet_counts_map(int fd);
void packet_counts_unmap(struct packet_counts *c);

/* Asks the kernel. A count is never behind one that was seen before. */
void packet_counts_take(struct packet_counts *c, int socket, int census);
/* The census begins to count now (`still`: neither counts yet), or has just begun beside a socket
 * without a filter: brings the two into step. */
void packet_counts_begin(struct packet_counts *c, int socket, int census, bool still);
void packet_counts_stopped(struct packet_counts *c, bool stopped);
/* Frames refused by the filter so far; while frames come in, give or take those on their way. */
uint32_t packet_counts_filtered(const struct packet_counts *c);

#endif
