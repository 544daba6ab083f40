// SPDX-License-Identifier: GPL-2.0
/* Airtime: see airtime.h. */
#include "airtime.h"

#include "bpf/modules/airtime/airtime.h"

void airtime_dissect(struct dissection *d, struct radio *r, unsigned int mpdu_len)
{
	struct frame_view *v = &r->sent;

	if (!v->rate_kbps || !v->preamble_ns || mpdu_len > UINT16_MAX)
		return;
	v->mpdu_len = mpdu_len;
	d->airtime_ns = v->preamble_ns + airtime_data_ns(v, airtime_bits(v));
	d->has |= DISSECT_AIRTIME;
}
