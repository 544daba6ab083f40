/* SPDX-License-Identifier: GPL-2.0 */
/* Block: reads the pcapng blocks of a record. The record is untrusted. */
#ifndef LIVE_BLOCK_H
#define LIVE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/pcapng_format.h"

struct block {
	uint32_t type, len;
	const uint8_t *bytes;
	uint32_t interface; /* BLOCK_PACKET, BLOCK_STATISTICS: offset in the table, or LIVE_ANY */
	bool is_clock;	    /* BLOCK_STATISTICS: about the sensor's clock */
	/* BLOCK_PACKET */
	uint64_t time_ns;
	uint32_t kept_len, orig_len;
	const uint8_t *data;
	/* both: without a combo's name, which only the collector's files have */
	const uint8_t *options;
	uint32_t options_len;
};

/* Reads the block at the begin of `len` bytes. Returns its length, or -EBADMSG. */
int block_read(struct block *b, const uint8_t *bytes, size_t len);
/* Reads an interface block's link type and name; the name is cut to `size`. Returns 0 or -EBADMSG.
 */
int block_interface(const uint8_t *bytes, size_t len, uint16_t *linktype, char *name, size_t size);

#endif
