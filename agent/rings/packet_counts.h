/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packet socket counts: the kernel's counts for a packet socket and its census (packet_socket.h). A
 * query resets them, so each query adds them to a page that both processes map. In: the two
 * sockets. Out: frames seen, lost, and refused by the filter. Always holds: every count of the
 * kernel is in the page once; numbers are modulo 2^32.
 */
#ifndef AGENT_RINGS_PACKET_COUNTS_H
#define AGENT_RINGS_PACKET_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct packet_counts {
	uint32_t packets;  /* passed the filter, including lost ones */
	uint32_t drops;	   /* of these, lost for lack of space */
	uint32_t census;   /* frames that the census saw */
	uint32_t before;   /* `packets` minus `census` when the census began
			      subtracted */
	uint32_t counting; /* the census is in use */
	uint32_t stopped;  /* the socket gets no frames, and these are final */
};

/* Returns a descriptor of a zeroed page of them, or -errno. */
int packet_counts_open(void);
/* Maps the page: one struct packet_counts per interface. Returns NULL on failure. */
struct packet_counts *packet_counts_map(int fd);
void packet_counts_unmap(struct packet_counts *c);

/* Queries the kernel. Counts never decrease. */
void packet_counts_take(struct packet_counts *c, int socket, int census);
/* Synchronises the two counts when the census starts. `still`: neither counts yet; else the socket
 * has no filter. */
void packet_counts_begin(struct packet_counts *c, int socket, int census, bool still);
void packet_counts_stopped(struct packet_counts *c, bool stopped);
/* Returns the frames refused by the filter so far. While frames come, those on their way make it
 * inexact. */
uint32_t packet_counts_filtered(const struct packet_counts *c);

#endif
