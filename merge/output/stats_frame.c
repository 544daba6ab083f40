// SPDX-License-Identifier: GPL-2.0
/* Stats: reads a packet block's frame and receptions. In: untrusted bytes. */
#include <string.h>

#include "stats.h"
#include "stats_airtime.h"
#include "wire/bytes.h"

#define FCS_LEN 4
#define GROUP 1	   /* bit of an address's first byte */
#define RETRY 0x08 /* bit of the frame control's second byte */

/* Subframes of an A-MPDU have one preamble, and arrive together. Not all radios say that a frame is
 * a subframe. But a frame behind the same transmitter's last one, by less than it takes itself, is
 * one. */
static bool has_preamble(struct stats *s, const struct stats_frame *f, const struct airtime *a,
			 uint32_t bytes)
{
	struct stats_burst *b = &s->bursts[(f->transmitter ^ f->transmitter >> 8) % STATS_BURSTS];
	struct stats_burst last = *b;

	if (!a->aggregates || !f->transmitter)
		return true;
	*b = (struct stats_burst){ f->transmitter, f->at_ns, a->aggregated, a->aggregate };
	if (last.transmitter != f->transmitter)
		return true;
	if (a->aggregated && last.aggregated)
		return a->aggregate != last.aggregate;
	return (uint64_t)f->at_ns - (uint64_t)last.at_ns >= 1e3 * airtime_us(a, bytes, true);
}

static void set_airtime(struct stats *s, struct stats_frame *f, const struct pcapng_block *b,
			const struct radiotap *r)
{
	uint32_t bytes = b->whole - r->len + (r->has_fcs ? 0 : FCS_LEN);
	struct airtime a;

	airtime_read(&a, b->frame, b->kept);
	f->airtime_us = airtime_us(&a, bytes, has_preamble(s, f, &a, bytes));
	f->has_rate = a.mbit_s > 0;
}

/* The sensor that hears it strongest is the nearest one. */
static bool is_near(const struct stats *s, const struct trace_receptions *all)
{
	struct trace_reception best = { .signal = 0 };

	for (uint32_t i = 0; i < all->count; i++) {
		struct trace_reception r = trace_reception(all, i);

		if (!i || r.signal > best.signal)
			best = r;
	}
	return !s->options.near || (all->count && s->near[best.sensor]);
}

bool stats_frame_read(struct stats *s, struct stats_frame *f, struct pcapng_block *b)
{
	static const uint8_t secret[IDENTITY_SECRET];
	const uint8_t *transmitter, *receiver;
	struct radiotap r;
	struct identity i;

	*f = (struct stats_frame){ .at_ns = b->ticks };
	f->receptions = trace_receptions(b);
	if (!f->receptions.of) {
		s->without_receptions++;
		return false;
	}
	f->found = trace_comes_late(&f->receptions, s->number);
	if (f->receptions.number > s->number)
		s->number = f->receptions.number;
	if (!is_near(s, &f->receptions)) {
		s->elsewhere++;
		return false;
	}
	if (radiotap_read(&r, b->frame, b->kept) ||
	    identity_read(&i, &r, b->frame, b->kept, b->whole, secret)) {
		s->malformed++;
		return false;
	}
	f->mhz = b->interface < s->interfaces ? s->mhz[b->interface] : 0;
	f->class = i.class;
	transmitter = identity_transmitter(&i);
	receiver = identity_receiver(&i);
	if (transmitter && f->class != FRAME_BAD_FCS)
		f->transmitter = load_be(transmitter, 6);
	f->wants_ack = (f->class == FRAME_DATA || f->class == FRAME_MANAGEMENT ||
			f->class == FRAME_RETRY) &&
		       receiver && !(*receiver & GROUP);
	f->retry = f->wants_ack && i.mac[1] & RETRY;
	set_airtime(s, f, b, &r);
	return true;
}
