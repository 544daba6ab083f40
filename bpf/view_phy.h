/* SPDX-License-Identifier: GPL-2.0 */
/*
 * View: how a frame was sent. In: radiotap's rate fields. Out: the rate, and the parts of the
 * frame's airtime. Sources: radiotap.org; IEEE 802.11-2020, 15.3.4 (DSSS), 16.3.4 (CCK), 17.4.3
 * (OFDM), 18.5.3 (ERP), 19.4.3 (HT), 21.4.3 (VHT); IEEE 802.11ax-2021, 27.4.3 (HE).
 */
#ifndef SALUKI_BPF_VIEW_PHY_H
#define SALUKI_BPF_VIEW_PHY_H

#include <saluki/module.h>

#include "parse_dot11.h"

#define VIEW_SERVICE_BITS 16
#define VIEW_TAIL_BITS 6 /* of a convolutional encoder, each; LDPC has none */

/* Signal extension: at 2.4 GHz, frames other than DSSS end with this silence, which is airtime
 * too. */
parse_inline unsigned int view_extension_ns(const struct frame_view *v)
{
	return v->mhz > 2400 && v->mhz < 2500 ? 6000 : 0;
}

/* Legacy rates. Channel flags: 0x4000 half width, 0x8000 quarter width. */
parse_inline void view_legacy(struct frame_view *v, unsigned int flags, unsigned int channel)
{
	unsigned int half = channel & 0x8000 ? 2 : channel & 0x4000 ? 1 : 0;

	switch (v->rate_kbps << half) {
	case 1000:
	case 2000:
	case 5500:
	case 11000:
		v->phy = VIEW_PHY_DSSS;
		v->preamble_ns = flags & RADIOTAP_SHORT && v->rate_kbps > 1000 ? 96000 : 192000;
		return;
	case 6000:
	case 9000:
	case 12000:
	case 18000:
	case 24000:
	case 36000:
	case 48000:
	case 54000:
		break;
	default:
		return;
	}
	v->phy = VIEW_PHY_OFDM;
	v->preamble_ns = (20000 << half) + view_extension_ns(v);
	v->symbol_ns = 4000 << half;
	v->tail_bits = VIEW_SERVICE_BITS + VIEW_TAIL_BITS;
}

/* Data bits per carrier and symbol, times 12, by MCS; 0: no such MCS. */
parse_inline unsigned int view_bits12(unsigned int mcs)
{
	switch (mcs) {
	case 0: /* BPSK 1/2 */
		return 6;
	case 1: /* QPSK 1/2, 3/4 */
		return 12;
	case 2:
		return 18;
	case 3: /* 16-QAM 1/2, 3/4 */
		return 24;
	case 4:
		return 36;
	case 5: /* 64-QAM 2/3, 3/4, 5/6 */
		return 48;
	case 6:
		return 54;
	case 7:
		return 60;
	case 8: /* 256-QAM 3/4, 5/6 */
		return 72;
	case 9:
		return 80;
	case 10: /* 1024-QAM 3/4, 5/6 */
		return 90;
	case 11:
		return 100;
	default:
		return 0;
	}
}

/* Discards the values of the legacy rate field. */
parse_inline void view_begin(struct frame_view *v, unsigned int phy)
{
	v->phy = phy;
	v->rate_kbps = v->preamble_ns = 0;
	v->symbol_ns = v->tail_bits = 0;
}

/* `bits`: data bits per symbol. `symbol`: length of a symbol in 100 ns. `encoders`: number of
 * convolutional encoders. */
parse_inline void view_symbols(struct frame_view *v, unsigned int bits, unsigned int symbol,
			       unsigned int stbc, unsigned int encoders)
{
	v->rate_kbps = (bits * 10000 + symbol / 2) / symbol;
	v->symbol_ns = symbol * 100 << !!stbc;
	v->tail_bits = VIEW_SERVICE_BITS + VIEW_TAIL_BITS * encoders;
}

/* Number of long training fields for a number of space-time streams. HT, VHT and HE agree. */
parse_inline unsigned int view_training(unsigned int streams)
{
	return streams + (streams > 1 && streams & 1);
}

/* Known, flags, MCS. Known: 1 bandwidth, 2 MCS, 4 guard interval, 8 format, 0x10 FEC, 0x20 STBC,
 * 0x40 extension streams. Flags: 3 bandwidth, 4 short guard interval, 8 greenfield, 0x10 LDPC, 0x60
 * STBC streams. */
parse_inline void view_ht(struct frame_view *v, const unsigned char *p)
{
	unsigned int known = p[0], flags = p[1], mcs = p[2];
	unsigned int wide = known & 1 && (flags & 3) == 1, stbc = known & 0x20 ? flags >> 5 & 3 : 0;
	unsigned int extra = known & 0x40 ? (known >> 7) << 1 | flags >> 7 : 0;
	unsigned int streams = mcs == 32 ? 1 : (mcs >> 3) + 1, bits;

	view_begin(v, VIEW_PHY_HT);
	v->mcs = mcs;
	if (!(known & 2) || mcs > 32)
		return; /* unequal modulation is nobody's */
	v->streams = streams;
	bits = mcs == 32 ? 24 : (wide ? 108 : 52) * view_bits12(mcs & 7) * streams / 12;
	view_symbols(v, bits, known & 4 && flags & 4 ? 36 : 40, stbc,
		     known & 0x10 && flags & 0x10 ? 0
		     : bits > 1200		  ? 2
						  : 1);
	v->preamble_ns = (known & 8 && flags & 8 ? 20000 : 32000) + view_extension_ns(v) +
			 4000 * (view_training(streams + stbc) + (extra == 3 ? 4 : extra));
}

/* Data carriers by radiotap's bandwidth number: 0 is 20 MHz, 1 to 3 40, 4 to 10 80, then 160. */
parse_inline unsigned int view_vht_carriers(unsigned int bandwidth)
{
	return bandwidth == 0 ? 52 : bandwidth <= 3 ? 108 : bandwidth <= 10 ? 234 : 468;
}

/* Known (2), flags, bandwidth, MCS and streams of four users, their coding, group, partial AID.
 * Known: 1 STBC, 4 guard interval, 0x40 bandwidth. For a multi-user frame, only the first user
 * counts.
 */
parse_inline void view_vht(struct frame_view *v, const unsigned char *p)
{
	unsigned int known = parse_le16(p), flags = p[2], streams = p[4] & 15;
	unsigned int carriers = view_vht_carriers(known & 0x40 ? p[3] & 31 : 0);
	unsigned int stbc = known & 1 && flags & 1, bits;

	view_begin(v, VIEW_PHY_VHT);
	v->mcs = p[4] >> 4;
	v->streams = streams;
	bits = carriers * view_bits12(v->mcs) * streams / 12;
	if (!bits || v->mcs > 9 || streams > 8)
		return;
	view_symbols(v, bits, known & 4 && flags & 4 ? 36 : 40, stbc,
		     p[8] & 1 ? 0 : (bits + 2159) / 2160);
	v->preamble_ns = 36000 + 4000 * view_training(streams << stbc) + view_extension_ns(v);
}

/* Data carriers by radiotap's number for the bandwidth or the resource unit. */
parse_inline unsigned int view_he_carriers(unsigned int allocation)
{
	switch (allocation) {
	case 0: /* 20 MHz */
	case 7: /* 242 tones */
		return 234;
	case 1: /* 40 */
	case 8:
		return 468;
	case 2: /* 80 */
	case 9:
		return 980;
	case 3: /* 160 */
	case 10:
		return 1960;
	case 4: /* 26 tones */
		return 24;
	case 5: /* 52 */
		return 48;
	case 6: /* 106 */
		return 102;
	default:
		return 0;
	}
}

/* Training fields and all before them, in ns. Only single-user formats: multi-user formats have a
 * field of unknown length and share their airtime. Data 1, lowest 2 bits: 0 single user, 1 extended
 * range. Data 5: 0xc0 length of a training field, 0x700 their number. Data 2: 4 the number is
 * known. */
parse_inline unsigned int view_he_preamble(const unsigned char *p, unsigned int streams,
					   unsigned int gi)
{
	unsigned int format = p[0] & 3, data5 = parse_le16(p + 8);
	unsigned int size = data5 >> 6 & 3, count = data5 >> 8 & 7;

	if (format > 1 || !size)
		return 0;
	count = count ? count * 2 : 1;
	if (!(p[2] & 4)) /* number not known: as the streams need */
		count = view_training(streams);
	return (format ? 44000 : 36000) + count * ((1600u << size) + gi * 100);
}

/* Six words. Known (data 1): 0x20 MCS, 0x40 DCM, 0x80 coding, 0x200 STBC, 0x4000 bandwidth; (data
 * 2): 2 guard interval. Data 3: 0xf00 MCS, 0x1000 DCM, 0x2000 LDPC, 0x8000 STBC. Data 5: 0xf
 * bandwidth, 0x30 guard interval. Data 6: 0xf space-time streams. The packet extension after the
 * last symbol is not counted. */
parse_inline void view_he(struct frame_view *v, const unsigned char *p)
{
	unsigned int known = parse_le16(p), data3 = parse_le16(p + 4), data5 = parse_le16(p + 8);
	unsigned int gi = data5 >> 4 & 3, nsts = p[10] & 15, stbc = known & 0x200 && data3 & 0x8000;
	unsigned int bits, streams = stbc ? nsts >> 1 : nsts;

	view_begin(v, VIEW_PHY_HE);
	v->mcs = data3 >> 8 & 15;
	v->streams = streams;
	bits = view_he_carriers(data5 & 15) * view_bits12(v->mcs) * streams / 12;
	if (!(known & 0x20) || !(known & 0x4000) || !(p[2] & 2) || !bits || gi > 2 || nsts > 8)
		return;
	if (known & 0x40 && data3 & 0x1000)
		bits /= 2;
	gi = 8 << gi;
	view_symbols(v, bits, 128 + gi, stbc, !(data3 & 0x2000));
	v->preamble_ns = view_he_preamble(p, nsts, gi);
	if (v->preamble_ns)
		v->preamble_ns += view_extension_ns(v);
}

#endif
