/* SPDX-License-Identifier: GPL-2.0 */
/* The layout of a packet socket's ring: tap/ sets it up in the kernel, rings/ reads the ring. */
#ifndef AGENT_MODEL_PACKET_LAYOUT_H
#define AGENT_MODEL_PACKET_LAYOUT_H

#include <stdint.h>

enum packet_version { PACKET_RECV, PACKET_V1, PACKET_V2, PACKET_V3 };

/* A ring is a series of blocks. A block has slots of `frame_size` (V1, V2), or consecutive frames
 * (V3). */
struct packet_layout {
	uint8_t version; /* enum packet_version; PACKET_RECV has no ring */
	uint32_t block_size, blocks, frame_size;
	uint32_t block_ms; /* V3: after this the kernel passes on a block with any frame */
};

#endif
