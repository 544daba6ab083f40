// SPDX-License-Identifier: GPL-2.0
/* Writer: see writer.h. */
#include "writer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcapng/build.h"
#include "wire/bytes.h"

/* In a block, so that it is not larger than PCAPNG_BLOCK_MAX. */
#define RECEPTIONS_MAX (16 * RECEPTIONS_EACH)
#define OFF_SIGMAS 5
#define PART_MANY 65535 /* this number or a higher one: 16 bits are written */

void writer_init(struct writer *w, struct outlet *o, const struct sensors *s, const struct merge *m)
{
	*w = (struct writer){ .outlet = o, .sensors = s, .merge = m };
}

void writer_free(struct writer *w)
{
	free(w->of);
	w->of = NULL;
}

/* ---- interfaces ------------------------------------------------------------------------------ */

static int radios_grow(struct writer *w)
{
	uint32_t room = w->sensors->radio_count + 64;
	struct writer_radio *more;

	if (w->sensors->radio_count <= w->radio_room)
		return 0;
	more = realloc(w->of, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + w->radio_room, 0, (room - w->radio_room) * sizeof(*more));
	w->of = more;
	w->radio_room = room;
	return 0;
}

static int interface(struct writer *w, const char *name, const char *description)
{
	uint8_t *p = outlet_room(w->outlet, BLOCK_ROOM);

	if (!p)
		return w->outlet->err;
	outlet_used(w->outlet, block_interface_named(p, name, description));
	w->interfaces++;
	return 0;
}

/* A radio that was not there before. */
static int radio(struct writer *w, uint32_t index)
{
	const struct input_radio *r = &w->sensors->radios[index];
	const struct input_sensor *s = &w->sensors->list[r->sensor];
	char description[160];

	snprintf(description, sizeof(description), "sensor %s (id %u), interface %u", s->name,
		 s->number, r->number);
	w->of[index].on = w->interfaces;
	return interface(w, r->name, description);
}

static int channel_number(uint16_t mhz)
{
	return mhz == 2484		   ? 14
	       : mhz >= 2412 && mhz < 2484 ? (mhz - 2407) / 5
	       : mhz > 5950		   ? (mhz - 5950) / 5
	       : mhz > 5000		   ? (mhz - 5000) / 5
					   : 0;
}

static int channel(struct writer *w, uint16_t mhz, uint32_t *on)
{
	char name[32], description[48];

	*on = w->channels[0];
	for (uint32_t i = 0; i < w->channel_count; i++)
		if (w->mhz[i] == mhz) {
			*on = w->channels[i];
			return 0;
		}
	if (w->channel_count == WRITER_CHANNELS)
		return 0;
	snprintf(name, sizeof(name), "channel %d", channel_number(mhz));
	snprintf(description, sizeof(description), "%u MHz", mhz);
	*on = w->interfaces;
	w->mhz[w->channel_count] = mhz;
	w->channels[w->channel_count++] = w->interfaces;
	return interface(w, mhz ? name : "unknown channel", description);
}

/* The file's first blocks, and those of new radios. A trace without transmissions has no number. */
static int describe(struct writer *w)
{
	char trace[SECTION_COMMENT_MAX];
	int err = radios_grow(w);
	uint8_t *p;

	if (!err && !w->begun) {
		p = outlet_room(w->outlet, BLOCK_ROOM);
		if (!p)
			return w->outlet->err;
		snprintf(trace, sizeof(trace), SECTION_TRACE_FORMAT,
			 (unsigned long long)w->first_ns);
		outlet_used(w->outlet,
			    block_section(p, OUTLET_APPLICATION, w->transmissions ? trace : NULL));
		w->begun = true;
	}
	while (!err && w->radios < w->sensors->radio_count)
		err = radio(w, w->radios++);
	return err;
}

static int next_file(struct writer *w)
{
	w->begun = false;
	w->channel_count = w->interfaces = w->radios = 0;
	return outlet_next(w->outlet);
}

/* ---- a transmission -------------------------------------------------------------------------- */

static uint32_t saturated(double v)
{
	return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

static int32_t clamped(int64_t v)
{
	return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
}

static uint8_t flags_of(const struct writer *w, const struct transmission *t, const struct heard *h)
{
	const struct domain *d = w->merge->clocks.list[h->domain];
	double off = h->unified_ns - transmission_ns(t);

	return h->flags |
	       (fabs(off) > OFF_SIGMAS * sqrt(h->variance + d->clock.jitter) ? HEARD_OFF : 0);
}

static uint8_t *put_reception(const struct writer *w, uint8_t *p, const struct transmission *t,
			      const struct heard *h)
{
	const struct radio *r = &w->merge->radios.list[h->radio];
	int64_t at = transmission_ns(t);

	store_be(p, w->sensors->list[r->sensor].number, 2);
	p[2] = r->number;
	p[3] = flags_of(w, t, h);
	p[4] = (uint8_t)h->signal;
	store_be(p + 5, (uint32_t)clamped(h->unified_ns - at), 4);
	store_be(p + 9, saturated(sqrt(h->variance)), 4);
	store_be(p + 13, t->part < PART_MANY ? t->part : PART_MANY, 2);
	store_be(p + 15, (uint64_t)(h->stamp_ns - at), 8);
	return p + RECEPTION_LEN;
}

/* In options of RECEPTIONS_EACH receptions; the last one has the rest. */
struct receptions {
	const struct writer *writer;
	const struct transmission *of;
	uint8_t *option, *p;
	uint32_t count; /* in all options */
};

static void option_begin(struct receptions *r)
{
	r->option = r->p;
	store_be(r->p + 4, ENTERPRISE, 4);
	r->p[8] = RECEPTIONS_VERSION;
	r->p += RECEPTIONS_HEAD;
}

static void option_end(struct receptions *r)
{
	size_t len = r->p - r->option - 4;

	put16(put16(r->option, OPT_DATA), len);
	r->p = put_padding(r->p, len);
}

static void put_list(struct receptions *r, const struct heard *h)
{
	for (; h && r->count < RECEPTIONS_MAX; h = h->next, r->count++) {
		if (r->count && r->count % RECEPTIONS_EACH == 0) {
			option_end(r);
			option_begin(r);
		}
		r->p = put_reception(r->writer, r->p, r->of, h);
	}
}

static uint8_t *put_receptions(const struct writer *w, uint8_t *p, const struct transmission *t)
{
	struct receptions r = { .writer = w, .of = t, .p = p };

	option_begin(&r);
	put_list(&r, t->first);
	put_list(&r, t->damaged);
	option_end(&r);
	return r.p;
}

static size_t receptions_room(const struct transmission *t)
{
	uint32_t n = transmission_heard(t);

	n = n < RECEPTIONS_MAX ? n : RECEPTIONS_MAX;
	return n * RECEPTION_LEN + (n / RECEPTIONS_EACH + 1) * RECEPTIONS_GAP;
}

static void count(struct writer *w, const struct transmission *t)
{
	ledger_transmission(&w->ledger, t);
	for (const struct heard *h = t->first; h; h = h->next)
		w->of[h->radio].received++;
	for (const struct heard *h = t->damaged; h; h = h->next)
		w->of[h->radio].received++;
}

_Static_assert(PCAPNG_FRAME_MAX + BLOCK_ROOM + RECEPTIONS_MAX * RECEPTION_LEN +
			       (RECEPTIONS_MAX / RECEPTIONS_EACH + 1) * RECEPTIONS_GAP <=
		       PCAPNG_BLOCK_MAX,
	       "readers take each block");
_Static_assert((RECEPTIONS_HEAD + RECEPTIONS_EACH * RECEPTION_LEN) % 4 == 1, "3 bytes of padding");

int writer_take(void *writer, const struct transmission *t)
{
	struct writer *w = writer;
	int err = outlet_is_full(w->outlet) ? next_file(w) : 0;
	uint8_t *block, *p;
	uint32_t on;

	if (!w->transmissions++)
		w->first_ns = transmission_ns(t);
	err = err ?: describe(w);
	err = err ?: channel(w, t->mhz, &on);
	if (err)
		return err;
	block = outlet_room(w->outlet, t->kept + BLOCK_ROOM + receptions_room(t));
	if (!block)
		return w->outlet->err;
	p = block_packet(block, on, transmission_ns(t), t->frame, t->kept, t->whole);
	if (transmission_ns(t) > w->newest_ns)
		w->newest_ns = transmission_ns(t);
	p = put_option(p, EPB_PACKETID, &t->number, 8);
	outlet_used(w->outlet, block_end(block, put_receptions(w, p, t)));
	count(w, t);
	return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

static int statistics(struct writer *w, uint32_t on, uint64_t received, const char *comment)
{
	uint8_t *p = outlet_room(w->outlet, BLOCK_ROOM);

	if (!p)
		return w->outlet->err;
	outlet_used(w->outlet, block_statistics(p, on, w->newest_ns, received, comment));
	return 0;
}

int writer_finish(struct writer *w)
{
	char text[LEDGER_TEXT_MAX];
	uint32_t on;
	int err = describe(w);

	if (!err && !w->interfaces)
		err = channel(w, 0, &on);
	for (uint32_t i = 0; !err && i < w->radios; i++)
		err = statistics(w, w->of[i].on, w->of[i].received, NULL);
	ledger_write(&w->ledger, text);
	return err ?: statistics(w, 0, w->of ? w->of[0].received : 0, text) ?: outlet_finish(w->outlet);
}
