// SPDX-License-Identifier: GPL-2.0
/* Emits how each 802.11 frame was sent, from its view (read by tests/reference/airtime.py).
 */
#include <saluki/module.h>

struct sent {
	__u8 phy, mcs, streams, is_ampdu;
	__u8 bad_fcs, pad;
	__u16 mpdu_len;
	__u32 rate_kbps, preamble_ns;
	__u16 symbol_ns, tail_bits;
	__u32 ampdu;
	__u64 timestamp_us;
};

int module(struct frame_view *v)
{
	struct sent s = {};

	if (!v || !(v->has & VIEW_DOT11))
		return 0;
	s.phy = v->phy;
	s.mcs = v->mcs;
	s.streams = v->streams;
	s.is_ampdu = v->is_ampdu;
	s.bad_fcs = v->bad_fcs;
	s.mpdu_len = v->mpdu_len;
	s.rate_kbps = v->rate_kbps;
	s.preamble_ns = v->preamble_ns;
	s.symbol_ns = v->symbol_ns;
	s.tail_bits = v->tail_bits;
	s.ampdu = v->ampdu;
	s.timestamp_us = v->timestamp_us;
	module_emit(v, &s, sizeof(s));
	return 0;
}
