// SPDX-License-Identifier: GPL-2.0
/* Dissection: see dissect.h. The headers in their order: capture header, link, network. */
#include "dissect.h"

#include <saluki/linktype.h>
#include <string.h>

#include "airtime.h"
#include "bpf/parse.h"
#include "dot11.h"
#include "network.h"
#include "radio.h"

static void dissect_ethernet(struct dissection *d, const struct frame *f)
{
	const unsigned char *p = frame_at(f, 0, 14);
	unsigned int type;

	d->destination = frame_at(f, 0, 6);
	d->source = frame_at(f, 6, 6);
	if (!p)
		return;
	type = parse_be16(p + 12);
	if (type < ETHERTYPE_MIN)
		network_llc(d, f, 14, type);
	else
		network_ethertype(d, f, 14, type);
}

static void dissect_80211(struct dissection *d, struct frame *f, uint16_t linktype)
{
	struct radio r;
	unsigned int mpdu_len;

	if (radio_read(&r, f, linktype))
		return;
	radio_fields(d, &r);
	mpdu_len = dot11_dissect(d, f, &r);
	if (mpdu_len)
		airtime_dissect(d, &r, mpdu_len);
}

/* As the trim finds it (bpf/trim.h). */
static unsigned int headers_end(struct frame *f, uint16_t linktype)
{
	if (!linktype_has_trim(linktype))
		return PARSE_ALL;
	f->flags = linktype == LINKTYPE_RADIOTAP ? radiotap_flags(f) : 0;
	return frame_headers_end(f, linktype);
}

void dissect_frame(struct dissection *d, uint16_t linktype, const uint8_t *frame, size_t len,
		   uint32_t orig_len)
{
	struct frame f = { .data = frame, .end = frame + len, .orig_len = orig_len };

	*d = (struct dissection){ 0 };
	if (orig_len < len)
		f.orig_len = len;
	d->headers_end = parse_min(headers_end(&f, linktype), len);
	if (linktype == LINKTYPE_ETHERNET)
		dissect_ethernet(d, &f);
	else if (linktype_is_80211(linktype))
		dissect_80211(d, &f, linktype);
}

unsigned int dissect_addresses(const struct dissection *d,
			       const uint8_t *out[DISSECT_ADDRESSES_MAX])
{
	const uint8_t *const all[DISSECT_ADDRESSES_MAX] = { d->receiver,    d->transmitter,
							    d->bssid,	    d->source,
							    d->destination, d->second_bssid };
	unsigned int n = 0, at;

	for (int i = 0; i < DISSECT_ADDRESSES_MAX; i++) {
		if (!all[i])
			continue;
		for (at = 0; at < n && memcmp(out[at], all[i], 6); at++)
			;
		if (at == n)
			out[n++] = all[i];
	}
	return n;
}
