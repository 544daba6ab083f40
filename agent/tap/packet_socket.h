/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packet socket: opens a packet socket (packet(7)) for one interface, which packet_ring.h reads.
 * In: an interface, a filter. Out: a socket with the best ring that the kernel has, TPACKET_V3, V2,
 * V1, or none; and its counts. Always holds: between packet_socket_stop and packet_socket_start it
 * gets and counts no frames.
 */
#ifndef AGENT_PACKET_SOCKET_H
#define AGENT_PACKET_SOCKET_H

#include "agent/filter/filter_packet.h"
#include "agent/rings/packet_counts.h"
#include "agent/rings/packet_ring.h"

/* The kernel does not count frames that a socket's filter refuses. With a filter, a second socket
 * without one, the census, counts all frames. It is never read, so it is always full. It costs
 * about 60 ns per frame, and keeps about two frames in its queue. */
struct packet_socket {
	int fd, census; /* -1 */
	int ifindex;	/* as started on last */
	struct packet_layout layout;
	struct packet_counts *counts; /* not owned */
	struct filter_packet how;     /* for the interface of the last start */
	enum filter_tags tags;	      /* the tag extensions of this kernel's filters */
	int refused[PACKET_V3 + 1];   /* -errno of each version that failed */
};

/* Opens the sockets and sets up a ring of version `best` or lower. Returns 0, or -errno: this
 * kernel has no packet sockets. */
int packet_socket_open(struct packet_socket *s, enum packet_version best,
		       const struct capture_options *o, struct packet_counts *counts);
void packet_socket_close(struct packet_socket *s);
/* "mmap v3", ..., "mmap recv" */
const char *packet_version_name(enum packet_version version);
/* Sets the bytes to copy per frame, from the next start or filter on. At most the value at the
 * opening.
 */
void packet_socket_snaplen(struct packet_socket *s, uint32_t snaplen);
/* Starts to capture on an interface of this LINKTYPE_. `headers`: only headers are needed.
 * `received_only`: no sent frames, whatever was requested at the opening. Returns 0 or -errno. */
int packet_socket_start(struct packet_socket *s, int ifindex, int linktype, bool headers,
			bool received_only, const struct filter *f);
/* Changes the filter between two frames. Returns 0, or -errno: then the old one stays. */
int packet_socket_filter(struct packet_socket *s, const struct filter *f);
/* Ends the capture. When it returns, no more frames come and the counts are final. */
void packet_socket_stop(struct packet_socket *s);

#endif
