// SPDX-License-Identifier: GPL-2.0
/* Dwell: see dwell.h. */
#include "dwell.h"

#include <errno.h>

#include "bytes.h"

_Static_assert(DWELL_MAX >= 1 + 3 * 3 + 8 + 3 * VARINT_MAX + 5 + 2 * VARINT_MAX,
	       "all at their most");

/* Writes varints, and returns their end. */
static uint8_t *put_all(uint8_t *p, const uint64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		p += store_varint(p, values[i]);
	return p;
}

size_t dwell_write(uint8_t out[DWELL_MAX], const struct dwell *d)
{
	const uint64_t channel[] = { d->mhz, d->width, d->center };
	const uint64_t heard[] = {
		d->to_ns - d->from_ns, d->frames, d->switch_ns, d->error, d->marked, d->up_ns
	};
	uint8_t *p = out;

	*p++ = d->interface;
	p = put_all(p, channel, sizeof(channel) / sizeof(channel[0]));
	store_be(p, d->from_ns, 8);
	return put_all(p + 8, heard, sizeof(heard) / sizeof(heard[0]) - !d->up_ns) - out;
}

static int read_channel(struct dwell *d, const uint8_t **p, const uint8_t *end)
{
	uint64_t mhz, width, center;

	if (load_varint(p, end, &mhz) || load_varint(p, end, &width) ||
	    load_varint(p, end, &center) || !mhz || mhz > UINT16_MAX || width > UINT16_MAX ||
	    center > UINT16_MAX)
		return -EBADMSG;
	d->mhz = mhz;
	d->width = width;
	d->center = center;
	return 0;
}

int dwell_read(struct dwell *d, const uint8_t *in, size_t len)
{
	const uint8_t *p = in, *end = in + len;
	uint64_t lasted, error;

	if (!len)
		return -EBADMSG;
	d->interface = *p++;
	if (read_channel(d, &p, end) || end - p < 8)
		return -EBADMSG;
	d->from_ns = load_be(p, 8);
	p += 8;
	if (load_varint(&p, end, &lasted) || load_varint(&p, end, &d->frames) ||
	    load_varint(&p, end, &d->switch_ns) || load_varint(&p, end, &error) ||
	    load_varint(&p, end, &d->marked))
		return -EBADMSG;
	d->up_ns = 0;
	if (p < end && load_varint(&p, end, &d->up_ns))
		return -EBADMSG;
	if (lasted > UINT64_MAX - d->from_ns || lasted > UINT64_MAX - d->up_ns ||
	    error > UINT32_MAX || (error && (lasted || d->frames)))
		return -EBADMSG;
	d->to_ns = d->from_ns + lasted;
	d->error = error;
	return 0;
}
