// SPDX-License-Identifier: GPL-2.0
/* Stats, the second reading: values over time, and who hears whom. */
#include <errno.h>
#include <stdlib.h>

#include "merge/model/reception.h"
#include "stats.h"

#define RESIDUAL_LEAST 3 /* of two receptions, one is the transmission's time itself */

/* The different sensors of a transmission. */
struct hearers {
	uint32_t count;			/* of all sensors with a row */
	uint32_t places[STATS_TOP_MAX]; /* of the busiest sensors */
	uint32_t place_count;
	struct stats_sensor *last;
	uint64_t taken[STATS_SENSORS / 64];
};

static bool is_new(struct hearers *h, uint32_t index)
{
	uint64_t bit = 1ULL << (index & 63);
	bool is = !(h->taken[index / 64] & bit);

	h->taken[index / 64] |= bit;
	return is;
}

static void hearer(struct stats *s, struct hearers *h, struct stats_sensor *n)
{
	if (!is_new(h, n - s->sensors))
		return;
	h->count++;
	h->last = n;
	if (n->place && h->place_count < STATS_TOP_MAX)
		h->places[h->place_count++] = n->place - 1;
}

/* Clears what is_new() has set. */
static void forget(struct stats *s, struct hearers *h, const struct trace_receptions *all)
{
	for (uint32_t i = 0; i < all->count; i++) {
		uint32_t index = s->sensor_of[trace_reception(all, i).sensor];

		if (index)
			h->taken[(index - 1) / 64] = 0;
	}
	h->count = h->place_count = 0;
}

/* Only frames that no other frame equals have exact receptions. */
static bool has_residuals(const struct stats_frame *f)
{
	return f->receptions.count >= RESIDUAL_LEAST &&
	       (f->class == FRAME_BEACON || f->class == FRAME_MANAGEMENT || f->class == FRAME_DATA);
}

static void reception(struct stats *s, const struct stats_frame *f, struct stats_sensor *n,
		      const struct trace_reception *r, int point)
{
	const struct transmitter *t = transmitters_find(&s->transmitters, f->transmitter);
	bool exact = has_residuals(f) && !(r->flags & HEARD_UNALIGNED);
	struct stats_point *p;

	s->receptions++;
	n->late += r->flags & HEARD_LATE ? 1 : 0;
	n->off += r->flags & HEARD_OFF ? 1 : 0;
	if (exact)
		spread_add(&n->residuals, r->off_ns);
	if (!n->place)
		return;
	if (t && t->place) {
		struct stats_heard *h = &s->heard[(n->place - 1) * s->address_count + t->place - 1];

		h->receptions++;
		h->signal += r->signal;
	}
	if (point < 0)
		return;
	p = &s->points[(n->place - 1) * s->options.points + point];
	p->receptions++;
	if (r->part == n->part &&
	    !(r->flags & HEARD_UNALIGNED)) { /* else no clock to compare with */
		p->has_offset = true;
		p->offset_ns = (int64_t)((uint64_t)(int64_t)r->off_ns - (uint64_t)r->stamp_ns);
	}
	if (exact)
		spread_add(&p->residuals, r->off_ns);
}

/* Returns NULL without memory, or if there are too many channels. */
static struct stats_channel *channel(struct stats *s, uint16_t mhz)
{
	struct stats_channel *c;

	for (uint32_t i = 0; i < s->channel_count; i++)
		if (s->channels[i].mhz == mhz)
			return &s->channels[i];
	if (s->channel_count == STATS_CHANNELS)
		return NULL;
	c = &s->channels[s->channel_count++];
	c->mhz = mhz;
	c->seen = calloc(STATS_SENSORS, sizeof(*c->seen));
	c->points = calloc(s->options.points, sizeof(*c->points));
	return c;
}

static int on_channel(struct stats *s, const struct stats_frame *f, uint32_t hearers, int point)
{
	struct stats_channel *c = channel(s, f->mhz);
	struct stats_channel_point *p;

	if (!c) {
		s->channels_left_out++;
		return 0;
	}
	if (!c->seen || !c->points)
		return -ENOMEM;
	p = &c->points[point];
	p->airtime_us += f->airtime_us;
	p->transmissions++;
	p->several += hearers > 1;
	p->attempts += f->wants_ack;
	p->retries += f->retry;
	for (uint32_t i = 0; i < f->receptions.count; i++) {
		uint32_t index = s->sensor_of[trace_reception(&f->receptions, i).sensor];

		if (!index || c->seen[index - 1] == point + 1)
			continue;
		c->seen[index - 1] = point + 1;
		p->listening++;
	}
	return 0;
}

static void transmitter(struct stats *s, const struct stats_frame *f)
{
	const struct transmitter *t = transmitters_find(&s->transmitters, f->transmitter);
	struct stats_transmitter *sent;

	if (!t || !t->place)
		return;
	sent = &s->sent[t->place - 1];
	sent->transmissions++;
	sent->receptions += f->receptions.count;
	sent->attempts += f->wants_ack;
	sent->retries += f->retry;
	sent->airtime_us += f->airtime_us;
	sent->mhz = f->mhz;
}

static void count(struct stats *s, const struct stats_frame *f, const struct hearers *h)
{
	uint32_t heard = h->count < STATS_HEARD_MAX ? h->count : STATS_HEARD_MAX;

	s->transmissions++;
	s->classes[f->class]++;
	s->airtime_unknown[f->class] += !f->has_rate;
	s->heard_by[f->class][heard]++;
	if (h->count == 1)
		h->last->alone[f->class]++;
	if (f->class == FRAME_BAD_FCS)
		return;
	for (uint32_t i = 0; i < h->place_count; i++)
		for (uint32_t j = 0; j < h->place_count; j++)
			s->together[h->places[i] * s->place_count + h->places[j]]++;
}

int stats_measure_frame(struct stats *s, const struct stats_frame *f)
{
	static struct hearers h; /* all zero between two calls */
	int point = stats_point_of(s, f->at_ns), err = 0;

	for (uint32_t i = 0; i < f->receptions.count; i++) {
		struct trace_reception r = trace_reception(&f->receptions, i);
		uint32_t index = s->sensor_of[r.sensor];

		if (!index) {
			s->sensors_left_out++;
			continue;
		}
		reception(s, f, &s->sensors[index - 1], &r, point);
		hearer(s, &h, &s->sensors[index - 1]);
	}
	if (!f->found) {
		count(s, f, &h);
		transmitter(s, f);
	}
	if (point < 0)
		s->outside++;
	else if (!f->found)
		err = on_channel(s, f, h.count, point);
	forget(s, &h, &f->receptions);
	return err;
}
