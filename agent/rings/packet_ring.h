/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packet socket reader (linux/if_packet.h): for rings of TPACKET_V3, V2 and V1 in shared memory,
 * and for plain sockets. In: a ring's memory, or a socket. Out: frames as on the wire, in the
 * kernel's order. Always holds: a frame's bytes are valid until the next one is requested; then the
 * kernel may reuse their space. Needs no privilege.
 */
#ifndef AGENT_RINGS_PACKET_RING_H
#define AGENT_RINGS_PACKET_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/model/packet_layout.h"

struct packet {
	const uint8_t *data; /* with the VLAN tag that the kernel removed */
	uint32_t cap_len;    /* captured bytes */
	uint32_t orig_len;   /* bytes on the wire */
	uint64_t time_ns;    /* since 1970; 0: unknown */
	uint16_t arphrd;     /* ARPHRD_ of the interface at that time */
	bool outgoing;
};

struct packet_ring {
	struct packet_layout layout;
	uint8_t *memory;
	uint32_t slots;	   /* V1, V2: in all blocks */
	uint32_t at;	   /* block (V3) or slot of the last or next frame */
	bool held;	   /* the block or slot is held */
	uint32_t left;	   /* V3: remaining frames of the block */
	uint32_t offset;   /* V3: offset of the next frame */
	uint64_t nonsense; /* malformed frames */
};

/* Uses a ring in `memory`, which the caller keeps. Its bytes are changed. */
void packet_ring_init(struct packet_ring *r, const struct packet_layout *l, uint8_t *memory);
/* Maps the ring of packet socket `fd`. Returns 0 or -errno. */
int packet_ring_map(struct packet_ring *r, const struct packet_layout *l, int fd);
void packet_ring_unmap(struct packet_ring *r); /* accepts a zeroed one */
/* Releases the last frame, and returns 1 with the next, or 0 if there is none yet. */
int packet_ring_next(struct packet_ring *r, struct packet *p);
/* For a ring without a next frame: whether V3's open block has frames. If so, sets `since_ns` to a
 * lower bound of their times since 1970. */
bool packet_ring_filling(const struct packet_ring *r, uint64_t *since_ns);
/* V3: whether half of the ring is unread. */
bool packet_ring_is_half_full(const struct packet_ring *r);

/* The most bytes before the first frame's bytes in a slot or block; a multiple of 16. */
uint32_t packet_layout_overhead(enum packet_version version);

/* Space before a frame without its tag, for inserting the tag. */
#define PACKET_HEADROOM 4

/* Reads one message of a socket without a ring into `room` of PACKET_HEADROOM + `size` bytes.
 * Returns 1, 0 if there is none yet, or -errno. */
int packet_recv(int fd, uint8_t *room, size_t size, struct packet *p);

#endif
