/* SPDX-License-Identifier: GPL-2.0 */
/* Radiotap (radiotap.org): what a radio says about a frame. */
#ifndef MERGE_FRAME_RADIOTAP_H
#define MERGE_FRAME_RADIOTAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct radiotap {
	uint16_t len;  /* bytes of the header */
	uint16_t mhz;  /* 0: not said */
	int8_t signal; /* dBm; 0: not said */
	uint8_t rate;  /* in units of 500 kbit/s; 0: not said */
	bool has_tsft;
	bool has_fcs; /* the frame ends with its FCS */
	bool bad_fcs;
	bool padded;	  /* the MAC header is padded to 4 bytes */
	uint64_t tsft_us; /* the radio's clock */
};

/* Reads the header of a frame of `len` kept bytes. Returns 0, or -EBADMSG if it is malformed. */
int radiotap_read(struct radiotap *r, const uint8_t *frame, size_t len);

#endif
