/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dissection: reads a captured frame once. In: link type, the bytes kept, the length on the wire.
 * Out: struct dissection. Link types: Ethernet, 802.11, and 802.11 after radiotap, Prism, AVS or
 * PPI. Of other link types only headers_end is set. Nothing is allocated, and nothing is kept
 * between frames.
 */
#ifndef DISSECT_DISSECT_H
#define DISSECT_DISSECT_H

#include <stddef.h>

#include "dissection.h"

/* `len`: bytes kept. `orig_len`: bytes on the wire; less than `len` counts as `len`. The frame must
 * outlive the pointers. */
void dissect_frame(struct dissection *d, uint16_t linktype, const uint8_t *frame, size_t len,
		   uint32_t orig_len);

#define DISSECT_ADDRESSES_MAX 6

/* All distinct addresses of a frame, group addresses included: each one that tshark 4.0's filter
 * `wlan.addr == A` (of the outermost 802.11 header) or `eth.addr#1 == A` matches, and source and
 * destination of an A-MSDU's first subframe, which tshark shows as wlan.sa and wlan.da only.
 * Returns their number. */
unsigned int dissect_addresses(const struct dissection *d,
			       const uint8_t *out[DISSECT_ADDRESSES_MAX]);

#endif
