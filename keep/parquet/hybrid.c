// SPDX-License-Identifier: GPL-2.0
#include "hybrid.h"

#include "pack.h"
#include "thrift.h"
#include "wire/bytes.h"

/* A shorter run costs more than it saves: it ends the packed values, and has a header itself. */
#define RUN_BITS 96

static uint8_t *pack(uint8_t *to, const uint32_t *v, size_t n, int width)
{
	struct pack p = { to, 0, 0 };

	for (size_t i = 0; i < n; i++)
		pack_put(&p, v[i], width);
	return pack_end(&p);
}

/* Returns the length of the run at v[0], or 0 if it has fewer than `least` values. */
static size_t run_at(const uint32_t *v, size_t n, size_t least)
{
	uint32_t differ = 0;
	size_t run = 8;

	if (n < least)
		return 0;
	for (int i = 1; i < 8; i++)
		differ |= v[i] ^ v[0];
	if (differ)
		return 0;
	while (run < n && v[run] == v[0])
		run++;
	return run < least ? 0 : run;
}

void hybrid_put_run(struct bytes *out, uint32_t value, size_t n, int width)
{
	uint8_t le[4];

	thrift_varint(out, (uint64_t)n << 1);
	store_le(le, value, 4);
	bytes_put(out, le, (size_t)(width + 7) / 8);
}

void hybrid_put(struct bytes *out, uint32_t *v, size_t n, int width)
{
	size_t least = RUN_BITS / width < 8 ? 8 : RUN_BITS / width, from = 0;

	memset(v + n, 0, 7 * sizeof(*v));
	while (from < n) {
		size_t end = from, run = 0;
		uint8_t *to;

		while (end < n && !(run = run_at(v + end, n - end, least)))
			end += 8;
		if (end > from) {
			thrift_varint(out, (end - from) / 8 << 1 | 1);
			to = bytes_reserve(out, (end - from) / 8 * width + 8);
			if (!to)
				return;
			out->len += (size_t)(pack(to, v + from, end - from, width) - to);
		}
		if (run)
			hybrid_put_run(out, v[end], run, width);
		from = end + run;
	}
}

void hybrid_put_bits(struct bytes *out, const uint8_t *flags, size_t n)
{
	uint8_t *to = bytes_reserve(out, n / 8 + 1);

	if (!to)
		return;
	for (size_t i = 0; i < n; i += 8) {
		uint64_t x = 0;

		memcpy(&x, flags + i, n - i < 8 ? n - i : 8);
		x = le64toh(x);
		x |= x >> 4;
		x |= x >> 2;
		x |= x >> 1;
		/* The product's highest byte has the lowest bits of all 8 bytes. */
		*to++ = (uint8_t)((x & 0x0101010101010101) * 0x0102040810204080 >> 56);
	}
	out->len += (n + 7) / 8;
}
