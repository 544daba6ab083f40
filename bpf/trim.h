/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trim: how many bytes of a frame are kept. In: a frame and the policy (`--snaplen`,
 * `--keep`). Out: a length. Like parse.h, compiled for BPF and for the host.
 *
 * Always holds: the result is at most the snaplen and at most the bytes at hand; with
 * `--keep headers` nothing behind the headers of a data frame is kept.
 */
#ifndef SALUKI_TRIM_H
#define SALUKI_TRIM_H

#include "parse.h"

/* Returns the number of bytes to keep, from the first, of the `len` bytes at hand, and sets
 * f->flags. */
parse_inline unsigned int trim_frame(struct frame *f, unsigned int len, int linktype,
				     int keep_headers, unsigned int snaplen)
{
	unsigned int keep = parse_min(len, snaplen);

	/* As many ways lead out of it as there are present words: behind the joint it is one. */
	f->flags = linktype == LINKTYPE_RADIOTAP ? parse_joint(radiotap_flags(f), 0x1ff) : 0;
	if (keep_headers)
		keep = parse_min(keep, frame_headers_end(f, linktype));
	return parse_joint(keep, 0xffffu);
}

#endif
