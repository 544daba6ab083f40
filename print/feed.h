/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Feed: writes the dissector's input as a new capture stream, so that the dissector gets no block
 * of the original input. For tcpdump, the stream is a pcap file of one link type with nanoseconds.
 * For tshark, it is one section of pcapng with the interfaces' names. In: frames. Out: bytes, which
 * the caller writes as the pipe takes them.
 */
#ifndef PRINT_FEED_H
#define PRINT_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/pcap_read.h"

#define FEED_FRAME_MAX 262144 /* bytes of a frame; both programs refuse longer ones */
/* Bytes; there is room for a frame while feed_has_room. */
#define FEED_LEN (FEED_FRAME_MAX + 64 * 1024)

/* An interface of the input. */
struct feed_interface {
	uint16_t linktype;
	uint32_t number; /* in the dissector's input, from 1 on; 0: not yet described */
	char name[64];	 /* as it is in the input; "": none */
};

struct feed {
	bool pcapng;
	uint32_t interfaces; /* described to the dissector */
	size_t at, len;	     /* written, and made */
	uint8_t *bytes;	     /* FEED_LEN */
};

/* Returns 0 or -ENOMEM. */
int feed_init(struct feed *f);
void feed_free(struct feed *f);
/* Begins a stream. `linktype`: of all frames, for pcap. */
void feed_begin(struct feed *f, bool pcapng, uint16_t linktype);
bool feed_has_room(const struct feed *f);
/* Adds a frame; there is room. It is cut to FEED_FRAME_MAX. */
void feed_frame(struct feed *f, const struct pcap_frame *frame, struct feed_interface *its);

#endif
