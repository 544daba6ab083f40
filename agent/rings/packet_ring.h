/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Readers of a packet socket (linux/if_packet.h): of the rings TPACKET_V3, V2 and V1 that the
 * kernel fills in shared memory, and of the plain socket. In: a ring's memory, or a socket. Out:
 * frames as they were on the wire, in the kernel's order. Always holds: a frame's bytes stay as
 * they are until the next one is asked for, and only then the kernel may use their space again.
 * Needs no privilege.
 */
#ifndef AGENT_RINGS_PACKET_RING_H
#define AGENT_RINGS_PACKET_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/model/packet_layout.h"

struct packet {
	const uint8_t *data; /* with the VLAN tag that the kernel had taken off */
	uint32_t cap_len;    /* bytes of it at hand */
	uint32_t orig_len;   /* bytes on the wire */
	uint64_t time_ns;    /* since 1970; 0: the kernel has not said */
	uint16_t arphrd;     /* ARPHRD_ of the interface when it was heard */
	bool outgoing;
};

struct packet_ring {
	struct packet_layout layout;
	uint8_t *memory;
	uint32_t slots;	   /* V1, V2: in all blocks */
	uint32_t at;	   /* block (V3) or slot of the frame given last, or of the next one */
	bool held;	   /* that block or slot is ours */
	uint32_t left;	   /* V3: frames of the block not given yet */
	uint32_t offset;   /* V3: of the next one */
	uint64_t nonsense; /* frames whose description contradicts itself */
};

/* A ring in `memory`, which stays the caller's; its bytes are changed. */
void packet_ring_init(struct packet_ring *r, const struct packet_layout *l, uint8_t *memory);
/* Maps the ring of packet socket `fd`. Returns 0 or -errno. */
int packet_ring_map(struct packet_ring *r, const struct packet_layout *l, int fd);
void packet_ring_unmap(struct packet_ring *r); /* takes a zeroed one too */
/* Gives the last frame back, and returns 1 with the next, or 0 where there is none yet. */
int packet_ring_next(struct packet_ring *r, struct packet *p);
/* Of a ring that had no next frame: whether there are frames in the block that the kernel still
 * fills (V3), and then in `since_ns` a time since 1970 that none of them is older than. */
bool packet_ring_filling(const struct packet_ring *r, uint64_t *since_ns);
/* V3: whether half of the ring waits to be read. */
bool packet_ring_is_half_full(const struct packet_ring *r);

/* Most bytes of a slot or block in front of the first frame's bytes; a multiple of 16. */
uint32_t packet_layout_overhead(enum packet_version version);

/* What stands in front of the bytes of a frame without its tag, where the tag goes in. */
#define PACKET_HEADROOM 4

/* One message of a socket that has no ring, into `room` of PACKET_HEADROOM + `size` bytes. Returns
 * 1, 0 where there is none yet, or -errno. */
int packet_recv(int fd, uint8_t *room, size_t size, struct packet *p);

#endif
