/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_XDP sockets: one per queue, with its memory. They are opened before `saluki run` forks: rings
 * can be mapped only before their socket is bound, and libxdp does both in one call. After the fork
 * the privileged process uses the descriptors (tap_xsk.c), and the other one the memory
 * (source_xsk.c).
 *
 * With zero-copy, the card writes a whole frame to a slot: a chunk of 2 or 4 KiB. In copy mode, the
 * kernel copies only the bytes that bpf/xsk.bpf.c kept, so slots are as close as possible: the
 * memory of -B then holds ten times as many frames of 192 bytes. To the kernel this is memory with
 * unaligned chunks. It does not check that they overlap.
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
	uint32_t first; /* lane of queue 0; the other queues follow */
	uint32_t room;	/* bytes of a frame that fit in a slot */
	uint32_t slots; /* a queue */
};

struct xsk_sockets {
	unsigned int count; /* interfaces */
	struct xsk_interface interfaces[INTERFACES_MAX];
	uint32_t lanes_len;
	struct xsk_lane *lanes;
	struct xsk_handle *handles; /* libxdp's, one per lane */
};

/* Opens sockets on all queues of all interfaces. Returns 0, or -errno after a line. */
int xsk_sockets_open(const struct capture_options *o);
/* Returns the open sockets, or NULL; for this process and those forked from it. */
struct xsk_sockets *xsk_sockets(void);
/* Unmaps the memory in the process that does not read it. */
void xsk_sockets_forget_memory(void);
/* Closes this process's sockets. */
void xsk_sockets_close(void);

#endif
