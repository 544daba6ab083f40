/* SPDX-License-Identifier: GPL-2.0 */
/*
 * View: the fields of a radiotap header that modules are shown. In: a frame that begins with one.
 * Out: frequency, rate, signal, noise, TSFT, and the flags. Source: radiotap.org; rates of HT
 * (IEEE 802.11-2020, 19.5) and VHT (21.5).
 *
 * Only fields of the first present word are looked at: those of antennas and vendors are behind
 * them.
 */
#ifndef SALUKI_BPF_VIEW_RADIOTAP_H
#define SALUKI_BPF_VIEW_RADIOTAP_H

#include <saluki/module.h>

#include "parse_dot11.h"

/* One spatial stream at 20 MHz with the long guard interval, by MCS 0 to 9. */
parse_inline unsigned int view_mcs_kbps(unsigned int mcs)
{
	switch (mcs) {
	case 0:
		return 6500;
	case 1:
		return 13000;
	case 2:
		return 19500;
	case 3:
		return 26000;
	case 4:
		return 39000;
	case 5:
		return 52000;
	case 6:
		return 58500;
	case 7:
		return 65000;
	case 8:
		return 78000;
	case 9:
		return 86667;
	default:
		return 0;
	}
}

/* Data subcarriers: 52 at 20 MHz, 108, 234, 468. */
parse_inline unsigned int view_rate(unsigned int mcs, unsigned int streams, unsigned int carriers,
				    int short_gi)
{
	unsigned int kbps = view_mcs_kbps(mcs) * streams / 52 * carriers;

	return short_gi ? kbps / 9 * 10 : kbps;
}

/* Passes over a field of `size` bytes, aligned to `align`, where its bit is set. Sets p where it is
 * there. */
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
	VIEW_SKIP(19, 3, 1); /* HT: known, flags, MCS */
	if (p && (p[0] & 2) && p[2] < 32)
		v->rate_kbps = view_rate(p[2] & 7, (p[2] >> 3) + 1,
					 (p[0] & 1) && (p[1] & 3) == 1 ? 108 : 52,
					 (p[0] & 4) && (p[1] & 4));
	VIEW_SKIP(20, 8, 4);  /* A-MPDU status */
	VIEW_SKIP(21, 12, 2); /* VHT: known, flags, bandwidth, MCS and streams */
	if (p) {
		unsigned int bw = parse_le16(p) & 0x40 ? p[3] & 31 : 0;

		v->rate_kbps = view_rate(p[4] >> 4, p[4] & 15,
					 bw == 0    ? 52
					 : bw <= 3  ? 108
					 : bw <= 10 ? 234
						    : 468,
					 (parse_le16(p) & 4) && (p[2] & 4));
	}
}

#undef VIEW_SKIP

#endif
