// SPDX-License-Identifier: GPL-2.0
/* Output clock: see output_clock.h. */
#include "output_clock.h"

#include <string.h>

#include "collector/model/sensors.h"
#include "common/monotonic.h"
#include "interfaces.h"
#include "output_flush.h"
#include "pcapng.h"
#include "sensor.h"

/* Whether the sensor has an interface block in the current section. */
static bool has_block(const struct output *out, const struct sensor *s)
{
	return s->output->interfaces.section == out->section && interfaces_any(s);
}

static uint32_t newest_block(struct sensor *s)
{
	size_t none;

	return interfaces_newest(s, NULL, 0, NULL, &none);
}

static void append(struct output *out, const uint8_t *block, size_t len, uint64_t now_ns)
{
	memcpy(out->buffer + out->len, block, len);
	out->len += len;
	if (!out->buffered_since_ns)
		out->buffered_since_ns = now_ns;
}

/* Passes a block to the reader of a pipe, and to viewers. Returns false if the reader has no
 * interface of the sensor yet. */
static bool stream(struct output *out, struct sensor *s, uint8_t *block, size_t len,
		   uint64_t now_ns)
{
	if (out->sink)
		return false;
	if (out->live)
		live_block(out->live, s->index, block, len);
	if (out->regular || out->hold.on || !output_make_room(out, len) || !has_block(out, s))
		return out->regular;
	pcapng_set_interface(block, newest_block(s));
	append(out, block, len, now_ns);
	return true;
}

void output_watermark(struct output *out, struct sensor *s, uint64_t before_ns, uint64_t now_ns)
{
	uint8_t block[PCAPNG_CLOCK_MAX];

	stream(out, s, block, pcapng_watermark(block, 0, before_ns), now_ns);
}

void output_offset(struct output *out, struct sensor *s, int64_t ahead_ns, uint64_t round_trip_ns,
		   uint64_t now_ns)
{
	uint8_t block[PCAPNG_CLOCK_MAX];
	struct offset *o = &s->output->offset;

	o->now.ahead_ns = ahead_ns;
	o->now.round_trip_ns = round_trip_ns;
	o->now.realtime_ns = clock_ns(CLOCK_REALTIME);
	if (o->streamed_ns && now_ns - o->streamed_ns < OFFSET_STREAM_NS)
		return;
	if (stream(out, s, block, pcapng_offset(block, 0, &o->now), now_ns))
		o->streamed_ns = now_ns;
}

static bool is_due(const struct output *out, const struct offset *o, uint64_t now_ns)
{
	int64_t changed = (uint64_t)o->now.ahead_ns - (uint64_t)o->filed_ahead_ns;

	return o->filed_section != out->section || now_ns - o->filed_ns >= OFFSET_FILE_NS ||
	       changed > OFFSET_MUCH_NS || changed < -OFFSET_MUCH_NS;
}

void output_offset_due(struct output *out, struct sensor *s, uint64_t now_ns)
{
	uint8_t block[PCAPNG_CLOCK_MAX];
	struct offset *o = &s->output->offset;

	if (!out->regular || !o->now.round_trip_ns || !is_due(out, o, now_ns) || !has_block(out, s))
		return;
	o->filed_section = out->section;
	o->filed_ns = now_ns;
	o->filed_ahead_ns = o->now.ahead_ns;
	append(out, block, pcapng_offset(block, newest_block(s), &o->now), now_ns);
}
