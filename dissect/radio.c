// SPDX-License-Identifier: GPL-2.0
/* Capture headers: see radio.h. */
#include "radio.h"

#include <errno.h>
#include <saluki/linktype.h>

#include "bpf/view_phy.h"
#include "radiotap.h"

#define DMG_MHZ 57000 /* at 60 GHz, radiotap's field MCS is of another PHY than HT */

_Static_assert((int)DISSECT_PHY_DSSS == VIEW_PHY_DSSS && (int)DISSECT_PHY_OFDM == VIEW_PHY_OFDM &&
		       (int)DISSECT_PHY_HT == VIEW_PHY_HT && (int)DISSECT_PHY_VHT == VIEW_PHY_VHT &&
		       (int)DISSECT_PHY_HE == VIEW_PHY_HE,
	       "one numbering");

static void set_mcs(struct radio *r, bool known)
{
	r->has = known ? r->has | DISSECT_MCS : r->has & ~DISSECT_MCS;
}

/* The legacy rate, or what newer PHYs say of their own, as in bpf/view_radiotap.h. Some drivers
 * write fields without an MCS beside the legacy rate; those say nothing. */
static void read_sent(struct radio *r, const struct radiotap_header *t, const uint8_t *frame)
{
	const uint8_t *p = radiotap_field(t, frame, RADIOTAP_RATE);
	uint16_t channel = 0;

	if (radiotap_channel(t, frame, &r->sent.mhz, &channel))
		r->has |= DISSECT_FREQUENCY;
	if (p) {
		r->sent.rate_kbps = p[0] * 500;
		view_legacy(&r->sent, r->flags, channel);
	}
	p = radiotap_field(t, frame, RADIOTAP_MCS);
	if (p && r->sent.mhz >= DMG_MHZ) {
		r->sent.mcs = p[2];
		set_mcs(r, p[0] & 2);
	} else if (p && (p[0] & 2 || (p[0] && !r->sent.rate_kbps))) {
		view_ht(&r->sent, p);
		set_mcs(r, p[0] & 2);
	}
	p = radiotap_field(t, frame, RADIOTAP_VHT);
	if (p && (p[4] & 15 || !r->sent.rate_kbps)) {
		view_vht(&r->sent, p);
		set_mcs(r, r->sent.streams);
	}
	p = radiotap_field(t, frame, RADIOTAP_HE);
	if (p) {
		view_he(&r->sent, p);
		set_mcs(r, p[0] & 0x20);
	}
	r->sent.is_ampdu = radiotap_field(t, frame, RADIOTAP_AMPDU) != NULL;
}

int radio_radiotap(struct radio *r, const struct frame *f)
{
	struct radiotap_header t;
	const uint8_t *p;

	if (radiotap_find(&t, f->data, f->end - f->data))
		return -EBADMSG;
	r->len = t.len;
	r->no_frame = t.has & 1u << RADIOTAP_ZERO_LENGTH;
	if ((p = radiotap_field(&t, f->data, RADIOTAP_FLAGS))) {
		r->flags = p[0];
		r->has |= DISSECT_FCS;
	}
	if ((p = radiotap_field(&t, f->data, RADIOTAP_SIGNAL))) {
		r->signal = (int8_t)p[0];
		r->has |= DISSECT_SIGNAL;
	}
	if ((p = radiotap_field(&t, f->data, RADIOTAP_NOISE))) {
		r->noise = (int8_t)p[0];
		r->has |= DISSECT_NOISE;
	}
	read_sent(r, &t, f->data);
	return 0;
}

int radio_read(struct radio *r, const struct frame *f, uint16_t linktype)
{
	*r = (struct radio){ 0 };
	switch (linktype) {
	case LINKTYPE_RADIOTAP:
		return radio_radiotap(r, f);
	case LINKTYPE_PRISM:
		return radio_prism(r, f);
	case LINKTYPE_AVS:
		return radio_avs(r, f);
	case LINKTYPE_PPI:
		return radio_ppi(r, f);
	default:
		return 0;
	}
}

void radio_fields(struct dissection *d, const struct radio *r)
{
	d->has |= r->has;
	d->frequency = r->sent.mhz;
	d->signal = r->signal;
	d->noise = r->noise;
	d->has_fcs = r->flags & RADIOTAP_FCS;
	d->bad_fcs = r->flags & RADIOTAP_BAD_FCS;
	d->phy = r->sent.phy;
	if (r->sent.rate_kbps) {
		d->rate_kbps = r->sent.rate_kbps;
		d->has |= DISSECT_RATE;
	}
	if (r->has & DISSECT_MCS)
		d->mcs = r->sent.mcs;
	if (r->sent.streams) {
		d->streams = r->sent.streams;
		d->has |= DISSECT_STREAMS;
	}
}
