/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parse: finds where a frame's headers end. In: a frame of a known link type. Out: an offset from
 * the frame's first byte. The same source is compiled for BPF and for the host, so that the kernel
 * and `-r` cannot disagree.
 *
 * Always holds: only bytes inside the frame are used. If the frame is truncated inside a header,
 * the end is the header's shortest possible end, and the caller clips it to the frame. If a
 * header's length is below its minimum or beyond the frame, the end is that of its fixed part, and
 * `malformed` is set. Bytes that cannot be parsed are not kept.
 *
 * parse_frame.h takes bytes, parse_network.h follows network headers, parse_dot11.h 802.11.
 */
#ifndef SALUKI_PARSE_H
#define SALUKI_PARSE_H

#include <saluki/linktype.h>

#include "parse_dot11.h"

/* Offset after the last header that `--keep headers` keeps, PARSE_ALL for a whole frame. May
 * lie beyond the end of the frame. `linktype` must have linktype_has_trim(). */
parse_inline unsigned int frame_headers_end(struct frame *f, int linktype)
{
	switch (linktype) {
	case LINKTYPE_ETHERNET:
		return ethernet_end(f);
	case LINKTYPE_RADIOTAP:
		return radiotap_end(f);
	case LINKTYPE_IEEE802_11:
		return dot11_end(f, 0);
	case LINKTYPE_PRISM:
	case LINKTYPE_AVS:
		return prism_end(f);
	case LINKTYPE_PPI:
		return ppi_end(f);
	default:
		return PARSE_ALL;
	}
}

#endif
