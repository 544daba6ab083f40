/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AF_XDP ring reader: a lane per socket, that is per queue of each interface, merged by time stamp.
 * In: slots with records by bpf/xsk.bpf.c. Out: these records, in place. A batch of slots is
 * returned to the kernel when the first record after the batch is requested. Needs no privilege,
 * only the memory.
 */
#ifndef AGENT_RINGS_XSK_RING_H
#define AGENT_RINGS_XSK_RING_H

#include <stddef.h>
#include <stdint.h>
#include <xdp/xsk.h>

#include <saluki/record.h>

struct xsk_lane {
	struct xsk_ring_cons rx;   /* filled by the kernel */
	struct xsk_ring_prod fill; /* free slots: has room for all */
	uint8_t *memory;
	int fd;			   /* to wake a driver that waits for slots; -1: not needed */
	unsigned int interface;	   /* the agent's number for it */
	uint32_t first, next, end; /* the batch from `rx`, and its next record */
};

struct xsk_ring {
	struct xsk_lane *lanes;
	uint32_t lanes_len;
	struct xsk_lane *lane; /* of the last returned record; NULL: none */
	uint64_t until_ns;     /* until here this lane has the oldest record */
};

/* Gives `slots` slots of `stride` bytes to the kernel. The fill ring is new and has room for them.
 */
void xsk_lane_fill(struct xsk_lane *l, uint32_t slots, uint32_t stride);
/* Reads `lanes`, which the caller keeps. */
void xsk_ring_init(struct xsk_ring *r, struct xsk_lane *lanes, uint32_t lanes_len);
/* Returns the next record, or NULL if there is none. It is valid until the next call. Records come
 * in the order of time stamps, among those available. */
const struct saluki_record *xsk_ring_next(struct xsk_ring *r);

#endif
