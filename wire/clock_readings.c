// SPDX-License-Identifier: GPL-2.0
/* Clock readings: see clock_readings.h. */
#include "clock_readings.h"

#include <errno.h>

#include "bytes.h"

static const struct clock_reading zeros;

static int64_t sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

size_t clock_readings_write(uint8_t *out, const struct clock_readings *r)
{
	const struct clock_reading *before = &zeros;
	uint8_t *p = out;

	for (const struct clock_reading *c = r->list; c < r->list + r->count; before = c++) {
		p += store_varint(p, c->monotonic_ns - before->monotonic_ns);
		p += store_varint(p, zigzag(clock_difference(c->realtime_minus_monotonic_ns,
							     before->realtime_minus_monotonic_ns)));
		p += store_varint(p, zigzag(clock_difference(c->raw_minus_monotonic_ns,
							     before->raw_minus_monotonic_ns)));
	}
	return p - out;
}

static int read_one(struct clock_reading *c, const struct clock_reading *before, const uint8_t **p,
		    const uint8_t *end)
{
	uint64_t monotonic, realtime, raw;

	if (load_varint(p, end, &monotonic) || load_varint(p, end, &realtime) ||
	    load_varint(p, end, &raw))
		return -EBADMSG;
	c->monotonic_ns = before->monotonic_ns + monotonic;
	c->realtime_minus_monotonic_ns =
		sum(before->realtime_minus_monotonic_ns, unzigzag(realtime));
	c->raw_minus_monotonic_ns = sum(before->raw_minus_monotonic_ns, unzigzag(raw));
	return 0;
}

int clock_readings_read(struct clock_readings *r, const uint8_t *in, size_t len)
{
	const uint8_t *p = in, *end = in + len;

	for (r->count = 0; p < end; r->count++) {
		const struct clock_reading *before = r->count ? &r->list[r->count - 1] : &zeros;

		if (r->count == CLOCK_READINGS_MAX || read_one(&r->list[r->count], before, &p, end))
			return -EBADMSG;
	}
	return r->count ? 0 : -EBADMSG;
}
