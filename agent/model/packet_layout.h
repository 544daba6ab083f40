/* SPDX-License-Identifier: GPL-2.0 */
/* How a packet socket's ring is laid out: tap/ agrees upon it with the kernel, rings/ reads it. */
#ifndef AGENT_MODEL_PACKET_LAYOUT_H
#define AGENT_MODEL_PACKET_LAYOUT_H

#include <stdint.h>

enum packet_version { PACKET_RECV, PACKET_V1, PACKET_V2, PACKET_V3 };

/* A ring is blocks in a row. A block has as many slots of `frame_size` as fit (V1, V2), or frames
 * one behind the other (V3). */
struct packet_layout {
	uint8_t version; /* enum packet_version; PACKET_RECV has no ring */
	uint32_t block_size, blocks, frame_size;
	uint32_t block_ms; /* V3: the kernel gives a block with any frame when this is over */
};

#endif
