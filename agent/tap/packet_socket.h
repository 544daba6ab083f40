/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A packet socket (packet(7)) for one interface, the privileged half of what packet_ring.h reads.
 * In: an interface, a filter. Out: a socket with the best ring that the kernel gives, TPACKET_V3,
 * V2, V1, or none; and its counts. Always holds: between packet_socket_stop and packet_socket_start
 * no frame is offered to it or counted.
 */
#ifndef AGENT_PACKET_SOCKET_H
#define AGENT_PACKET_SOCKET_H

#include "agent/filter/filter_packet.h"
#include "agent/rings/packet_counts.h"
#include "agent/rings/packet_ring.h"

/* The kernel does not count what a socket's filter refuses. Where there is one, a second socket
 * without a filter, never read and so always full, is offered the same frames: it costs some
 * 60 ns each and counts them all. Two frames or so stay in its queue for good. */
struct packet_socket {
	int fd, census; /* -1 */
	int ifindex;	/* as started on last */
	struct packet_layout layout;
	struct packet_counts *counts; /* not owned */
	struct filter_packet how;     /* for the interface as started on last */
	enum filter_tags tags;	      /* what filters can ask for on this kernel */
	int refused[PACKET_V3 + 1];   /* -errno of each version that was tried in vain */
};

/* Opens the sockets and agrees upon a ring, of the `best` version at most. Returns 0 or -errno:
 * there are no packet sockets here. */
int packet_socket_open(struct packet_socket *s, enum packet_version best,
		       const struct capture_options *o, struct packet_counts *counts);
void packet_socket_close(struct packet_socket *s);
/* "mmap v3", ..., "mmap recv" */
const char *packet_version_name(enum packet_version version);
/* How much of a frame is copied from the next start or filter on, at most what it was opened for.
 */
void packet_socket_snaplen(struct packet_socket *s, uint32_t snaplen);
/* Begins to capture on an interface of this LINKTYPE_; `headers`: of a frame only these are wanted.
 * Returns 0 or -errno. */
int packet_socket_start(struct packet_socket *s, int ifindex, int linktype, bool headers,
			const struct filter *f);
/* Changes the filter, from one frame to the next. Returns 0 or -errno: then the old one goes on. */
int packet_socket_filter(struct packet_socket *s, const struct filter *f);
/* Ends the capture. When it returns nothing more comes and the counts are final. */
void packet_socket_stop(struct packet_socket *s);

#endif
