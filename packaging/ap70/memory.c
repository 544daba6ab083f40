// SPDX-License-Identifier: GPL-2.0
/* memcpy(), memset() and memcmp() by words. zig's C library goes a byte at a time when it is built
 * for size, and a frame then costs 1,000 instructions more (docs/ap70.md). The compiler reads a
 * word that is not aligned by two instructions, LWL and LWR.
 *
 * This file is never built with -flto: the compiler would replace the loop in memcpy() by a call of
 * memcpy(). */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct word {
	uint32_t v;
} __attribute__((packed, may_alias));
typedef uint32_t aligned_word __attribute__((may_alias));

#define WORDS(p) ((const struct word *)(const void *)(p))
#define UNALIGNED(p) ((uintptr_t)(p) % sizeof(uint32_t))

int bcmp(const void *a, const void *b, size_t n);
void *memset(void *to, int byte, size_t n);

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	uint8_t *d = to;
	const uint8_t *s = from;

	for (; n && UNALIGNED(d); n--)
		*d++ = *s++;
	for (; n >= 16; n -= 16, d += 16, s += 16) {
		const struct word *w = WORDS(s);
		uint32_t a = w[0].v, b = w[1].v, c = w[2].v, e = w[3].v;
		aligned_word *o = (void *)d;

		o[0] = a;
		o[1] = b;
		o[2] = c;
		o[3] = e;
	}
	for (; n >= 4; n -= 4, d += 4, s += 4)
		*(aligned_word *)d = WORDS(s)->v;
	while (n--)
		*d++ = *s++;
	return to;
}

void *memset(void *to, int byte, size_t n)
{
	uint32_t word = (uint8_t)byte * 0x01010101u;
	uint8_t *d = to;

	for (; n && UNALIGNED(d); n--)
		*d++ = byte;
	for (; n >= 32; n -= 32, d += 32) {
		aligned_word *o = (void *)d;

		o[0] = o[1] = o[2] = o[3] = o[4] = o[5] = o[6] = o[7] = word;
	}
	for (; n >= 4; n -= 4, d += 4)
		*(aligned_word *)d = word;
	while (n--)
		*d++ = byte;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *p = a, *q = b;

	for (; n >= 16; n -= 16, p += 16, q += 16) {
		const struct word *v = WORDS(p), *w = WORDS(q);

		if ((v[0].v ^ w[0].v) | (v[1].v ^ w[1].v) | (v[2].v ^ w[2].v) | (v[3].v ^ w[3].v))
			break;
	}
	for (; n >= 4 && WORDS(p)->v == WORDS(q)->v; n -= 4)
		p += 4, q += 4;
	for (; n; n--, p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}

int bcmp(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n);
}
