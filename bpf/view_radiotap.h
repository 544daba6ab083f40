/* SPDX-License-Identifier: GPL-2.0 */
/*
 * View: the radiotap fields that modules can see. In: a frame with a radiotap header. Out:
 * frequency, signal, noise, TSFT, rate (view_phy.h), and flags. Source: radiotap.org.
 *
 * Only the first present word's fields are read. Fields of antennas and vendors come after them.
 */
#ifndef SALUKI_BPF_VIEW_RADIOTAP_H
#define SALUKI_BPF_VIEW_RADIOTAP_H

#include <saluki/module.h>

#include "parse_dot11.h"
#include "view_phy.h"

/* Skips a field of `size` bytes, aligned to `align`, if its bit is set. Sets p to the field, or to
 * 0. */
#define VIEW_SKIP(bit, size, align)                                                                \
	do {                                                                                       \
		p = 0;                                                                             \
		if (!(present & (1u << (bit))))                                                    \
			break;                                                                     \
		off = (off + (align)-1) & ~((align)-1u);                                           \
		if (off + (size) > len)                                                            \
			return;                                                                    \
		p = frame_at(f, parse_joint(off, PARSE_OFFSET_MASK), (size));                      \
		off = parse_joint(off + (size), PARSE_OFFSET_MASK);                                \
	} while (0)

parse_inline void view_radiotap(struct frame_view *v, struct frame *f, unsigned int len)
{
	const unsigned char *p = frame_at(f, 4, 4);
	unsigned int present, off;

	if (!p)
		return;
	present = parse_le32(p);
	off = radiotap_fields(f, len, present);
	if (!off)
		return;
	v->has |= VIEW_RADIOTAP;
	VIEW_SKIP(0, 8, 8);
	if (p)
		v->tsft_us = parse_le32(p) | (unsigned long long)parse_le32(p + 4) << 32;
	VIEW_SKIP(1, 1, 1);
	if (p)
		f->flags = p[0];
	VIEW_SKIP(2, 1, 1);
	if (p)
		v->rate_kbps = p[0] * 500;
	VIEW_SKIP(3, 4, 2);
	if (p)
		v->mhz = parse_le16(p);
	view_legacy(v, f->flags, p ? parse_le16(p + 2) : 0);
	VIEW_SKIP(4, 2, 1); /* FHSS */
	VIEW_SKIP(5, 1, 1);
	if (p)
		v->signal_dbm = p[0];
	VIEW_SKIP(6, 1, 1);
	if (p)
		v->noise_dbm = p[0];
	VIEW_SKIP(7, 2, 2);
	VIEW_SKIP(8, 2, 2);
	VIEW_SKIP(9, 2, 2);
	VIEW_SKIP(10, 1, 1);
	VIEW_SKIP(11, 1, 1);
	VIEW_SKIP(12, 1, 1);
	VIEW_SKIP(13, 1, 1);
	VIEW_SKIP(14, 2, 2); /* RX flags */
	VIEW_SKIP(15, 2, 2);
	VIEW_SKIP(16, 1, 1);
	VIEW_SKIP(17, 1, 1);
	VIEW_SKIP(18, 8, 4);
	VIEW_SKIP(19, 3, 1);
	if (p)
		view_ht(v, p);
	VIEW_SKIP(20, 8, 4); /* A-MPDU status */
	if (p) {
		v->is_ampdu = 1;
		v->ampdu = parse_le32(p);
	}
	VIEW_SKIP(21, 12, 2);
	if (p)
		view_vht(v, p);
	VIEW_SKIP(22, 12, 8); /* time stamp */
	VIEW_SKIP(23, 12, 2);
	if (p)
		view_he(v, p);
}

#undef VIEW_SKIP

#endif
