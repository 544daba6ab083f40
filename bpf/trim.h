/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trim: decides how many bytes of a frame to keep. In: a frame and the policy (`--snaplen`,
 * `--keep`). Out: a length. Like parse.h, compiled for BPF and for the host.
 *
 * Always holds: the result is at most the snaplen and at most `len`. With `--keep headers` a data
 * frame ends at its headers.
 */
#ifndef SALUKI_TRIM_H
#define SALUKI_TRIM_H

#include "parse.h"

/* Returns how many of the `len` bytes to keep, counted from the first, and sets f->flags. */
parse_inline unsigned int trim_frame(struct frame *f, unsigned int len, int linktype,
				     int keep_headers, unsigned int snaplen)
{
	unsigned int keep = parse_min(len, snaplen);

	/* The verifier has one path per present word here. parse_joint makes them one path. */
	f->flags = linktype == LINKTYPE_RADIOTAP ? parse_joint(radiotap_flags(f), 0x1ff) : 0;
	if (keep_headers)
		keep = parse_min(keep, frame_headers_end(f, linktype));
	return parse_joint(keep, 0xffffu);
}

#endif
