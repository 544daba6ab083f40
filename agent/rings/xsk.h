/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_XDP sockets, one a queue, with the memory behind each. They are opened before `saluki run`
 * becomes two processes: the kernel lets rings be mapped only until their socket is bound, and
 * libxdp does both in one call. After that the privileged process uses the descriptors (tap_xsk.c)
 * and the other one the memory (source_xsk.c): both have them from the fork.
 *
 * Where the driver does zero-copy, a slot is what the card writes a whole frame to: a chunk of 2 or
 * 4 KiB. Where the kernel copies, no more of a frame is copied than bpf/xsk.bpf.c has left of it,
 * so slots lie as close as that allows: the memory that -B gives holds ten times as many frames of
 * 192 bytes. For the kernel that is memory with unaligned chunks; that they overlap is not its
 * concern.
 */
#ifndef AGENT_RINGS_XSK_H
#define AGENT_RINGS_XSK_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/model/capture_options.h"

#define XSK_LANES_MAX 256

struct xsk_lane; /* agent/rings/xsk_ring.h */

struct xsk_interface {
	bool zerocopy;
	uint32_t queues;
	uint32_t first; /* lane of queue 0; those of the others follow */
	uint32_t room;	/* bytes of a frame that fit into a slot */
	uint32_t slots; /* a queue */
};

struct xsk_sockets {
	unsigned int count; /* interfaces */
	struct xsk_interface interfaces[INTERFACES_MAX];
	uint32_t lanes_len;
	struct xsk_lane *lanes;
	struct xsk_handle *handles; /* libxdp's, one a lane */
};

/* Opens sockets on all queues of all interfaces. Returns 0, or -errno after a line. */
int xsk_sockets_open(const struct capture_options *o);
/* What was opened, NULL where nothing was: of this process and those forked from it. */
struct xsk_sockets *xsk_sockets(void);
/* In the process that does not read: gives back its view of the memory. */
void xsk_sockets_forget_memory(void);
/* Closes this process's sockets. */
void xsk_sockets_close(void);

#endif
