/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reader of AF_XDP rings: a lane for each socket, that is for each queue of each interface, merged
 * by time stamp. In: slots that bpf/xsk.bpf.c has made records of. Out: those records, in place. A
 * slot goes back to the kernel with the others of its batch when the first record behind the batch
 * is asked for. Needs no privilege, just the memory.
 */
#ifndef AGENT_RINGS_XSK_RING_H
#define AGENT_RINGS_XSK_RING_H

#include <stddef.h>
#include <stdint.h>
#include <xdp/xsk.h>

#include <saluki/record.h>

struct xsk_lane {
	struct xsk_ring_cons rx;   /* what the kernel has filled */
	struct xsk_ring_prod fill; /* what it may fill: has room for all slots */
	uint8_t *memory;
	int fd;			   /* to wake a driver that waits for slots; -1: none does */
	unsigned int interface;	   /* the agent's number of it */
	uint32_t first, next, end; /* the batch taken from `rx`, and what of it comes next */
};

struct xsk_ring {
	struct xsk_lane *lanes;
	uint32_t lanes_len;
	struct xsk_lane *lane; /* of the record given last; NULL: none was */
	uint64_t until_ns;     /* this lane is the oldest up to here */
};

/* Gives `slots` slots of `stride` bytes to the kernel. The fill ring is new and has room for them.
 */
void xsk_lane_fill(struct xsk_lane *l, uint32_t slots, uint32_t stride);
/* Reads `lanes`, which stay the caller's. */
void xsk_ring_init(struct xsk_ring *r, struct xsk_lane *lanes, uint32_t lanes_len);
/* Returns the next record, or NULL where no queue has got further. It is valid until the next call.
 * Order is that of the time stamps among what has come so far. */
const struct saluki_record *xsk_ring_next(struct xsk_ring *r);

#endif
