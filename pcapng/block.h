/* SPDX-License-Identifier: GPL-2.0 */
/* Block: reads blocks in memory (draft-ietf-opsawg-pcapng), in both byte orders. In: untrusted
 * bytes. */
#ifndef PCAPNG_BLOCK_H
#define PCAPNG_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/pcapng_format.h"

#define PCAPNG_BLOCK_MAX (1024 * 1024) /* larger ones are malformed */
#define PCAPNG_FRAME_MAX (256 * 1024)  /* other programs read no larger ones, either */
#define OPT_DATA 2989		       /* our binary options that may be copied */

struct pcapng_option {
	uint16_t code, len;
	const uint8_t *value;
};

struct pcapng_block {
	uint32_t type, len;
	bool swapped;
	uint32_t interface; /* BLOCK_PACKET, BLOCK_STATISTICS */
	/* BLOCK_PACKET */
	uint64_t ticks;
	uint32_t kept, whole;
	const uint8_t *frame;
	/* Where the options begin, and end. */
	const uint8_t *options, *end;
};

/* An interface block's content. */
struct pcapng_interface {
	uint16_t linktype;
	uint64_t ticks;	  /* a second */
	int64_t offset_s; /* added to stamps */
	char name[128], description[256], comment[256];
};

/* Reads the block at the begin of `len` bytes. An obsolete packet block becomes a BLOCK_PACKET.
 * `swapped` is its section's, and is set by a section header. Returns the block's length, 0 if it
 * is not complete, or -EBADMSG. */
int64_t pcapng_block(struct pcapng_block *b, const uint8_t *bytes, size_t len, bool *swapped);
/* Takes the next option. Returns false behind the last one, or at a malformed one. */
bool pcapng_option(struct pcapng_block *b, struct pcapng_option *o);
/* Reads an interface block. */
void pcapng_interface(struct pcapng_block *b, struct pcapng_interface *i);
/* Returns nanoseconds since 1970; modulo 2^64. `resolution`: ticks a second. */
int64_t pcapng_ns(uint64_t ticks, uint64_t resolution, int64_t offset_s);

/* Reads the description of a sensor's interface: "sensor NAME (id ID), interface N". Returns false
 * if it is another one. */
bool pcapng_sensor(const char *description, char *name, size_t size, unsigned int *id);
/* Reads the floor from a comment of a sensor's interface (section.h). Returns false if it says
 * none.
 */
bool pcapng_floor(const char *comment, int32_t *floor);

#endif
