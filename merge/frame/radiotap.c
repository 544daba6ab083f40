// SPDX-License-Identifier: GPL-2.0
/* Radiotap: see radiotap.h. In: untrusted bytes. */
#include "radiotap.h"

#include <errno.h>

#include "dissect/radiotap.h"

/* All these must fit in. */
#define FIRST ((2u << RADIOTAP_SIGNAL) - 1)

int radiotap_read(struct radiotap *r, const uint8_t *frame, size_t len)
{
	struct radiotap_header h;
	const uint8_t *p;

	*r = (struct radiotap){ 0 };
	if (radiotap_find_first(&h, frame, len, RADIOTAP_SIGNAL) || !h.begin ||
	    h.has != (parse_le32(frame + 4) & FIRST))
		return -EBADMSG;
	r->len = h.len;
	if ((p = radiotap_field(&h, frame, RADIOTAP_TSFT))) {
		r->has_tsft = true;
		r->tsft_us = parse_le64(p);
	}
	if ((p = radiotap_field(&h, frame, RADIOTAP_FLAGS))) {
		r->has_fcs = *p & RADIOTAP_FCS;
		r->padded = *p & RADIOTAP_DATAPAD;
		r->bad_fcs = *p & RADIOTAP_BAD_FCS;
	}
	if ((p = radiotap_field(&h, frame, RADIOTAP_RATE)))
		r->rate = *p;
	if ((p = radiotap_field(&h, frame, RADIOTAP_CHANNEL)))
		r->mhz = parse_le16(p);
	if ((p = radiotap_field(&h, frame, RADIOTAP_SIGNAL)))
		r->signal = (int8_t)*p;
	return 0;
}
