/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Capture headers of 802.11: what a radio says about a frame. In: a frame with a radiotap, Prism,
 * AVS or PPI header, or none. Out: struct radio. Sources: radiotap.org, linux-wlan-ng's
 * p80211metadef.h, the AVS capture frame format 2.1, PPI 1.0.10.
 */
#ifndef DISSECT_RADIO_H
#define DISSECT_RADIO_H

#include <saluki/module.h>

#include "bpf/parse_dot11.h"
#include "dissection.h"

struct radio {
	uint32_t has;		/* DISSECT_ bits: frequency, signal, noise, FCS, MCS */
	unsigned int len;	/* bytes of the header */
	unsigned int flags;	/* RADIOTAP_SHORT, _FCS, _DATAPAD, _BAD_FCS */
	int signal, noise;	/* dBm */
	bool no_frame;		/* a header alone */
	struct frame_view sent; /* as bpf/view_phy.h computes it: mhz, rate_kbps, phy, mcs, streams,
				 * preamble_ns, symbol_ns, tail_bits; the rest is 0 */
};

/* Returns 0, or -EBADMSG if no whole header is there. */
int radio_read(struct radio *r, const struct frame *f, uint16_t linktype);
/* Copies the fields into `d`. */
void radio_fields(struct dissection *d, const struct radio *r);

/* Single link types. */
int radio_radiotap(struct radio *r, const struct frame *f);
int radio_prism(struct radio *r, const struct frame *f);
int radio_avs(struct radio *r, const struct frame *f);
int radio_ppi(struct radio *r, const struct frame *f);

#endif
