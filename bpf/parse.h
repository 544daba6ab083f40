/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parse: where the headers of a frame end. In: a frame of a known link type. Out: an offset
 * from the frame's first byte. Compiled for BPF and for the host from this one text, so that
 * the kernel and `-r` cannot disagree.
 *
 * Always holds: a header is believed only as far as its bytes are there. When a header is not
 * there whole (the frame is cut) the end is where it would have ended at least; the caller
 * clips to the frame. When a header lies (a length below its own minimum, or beyond the frame)
 * the end is that of its fixed part, and `malformed` is set: what cannot be understood is
 * not kept.
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
