// SPDX-License-Identifier: GPL-2.0
/* Receptions: see receptions.h. */
#include "receptions.h"

#include <string.h>

#include "build.h"
#include "wire/bytes.h"

static const uint8_t *reception_at(const struct trace_receptions *r, uint32_t number)
{
	return r->of + number * RECEPTION_LEN + number / RECEPTIONS_EACH * RECEPTIONS_GAP;
}

/* A further option counts if it is directly behind an option that is full. */
static void add_receptions(struct trace_receptions *r, const uint8_t *of, size_t len)
{
	uint32_t count = len / RECEPTION_LEN;

	if (!r->of)
		r->of = of;
	else if (!r->count || r->count % RECEPTIONS_EACH || of != reception_at(r, r->count))
		return;
	r->count += count < RECEPTIONS_EACH ? count : RECEPTIONS_EACH;
}

struct trace_receptions trace_receptions(struct pcapng_block *b)
{
	struct trace_receptions r = { .number = 0 };
	struct pcapng_option o;

	while (pcapng_option(b, &o)) {
		if (o.code == EPB_PACKETID && o.len == 8)
			memcpy(&r.number, o.value, 8);
		if (o.code == OPT_DATA && o.len > 5 && load_be(o.value, 4) == ENTERPRISE &&
		    o.value[4] == RECEPTIONS_VERSION)
			add_receptions(&r, o.value + 5, o.len - 5);
	}
	if (b->swapped)
		r.number = __builtin_bswap64(r.number);
	return r;
}

struct trace_reception trace_reception(const struct trace_receptions *r, uint32_t number)
{
	const uint8_t *p = reception_at(r, number);

	return (struct trace_reception){
		.sensor = load_be(p, 2),
		.interface = p[2],
		.flags = p[3],
		.signal = (int8_t)p[4],
		.off_ns = (int32_t)load_be(p + 5, 4),
		.sigma_ns = load_be(p + 9, 4),
		.part = load_be(p + 13, 2),
		.stamp_ns = (int64_t)load_be(p + 15, 8),
	};
}
