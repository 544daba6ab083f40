// SPDX-License-Identifier: GPL-2.0
/* What the C library that comes with the compiler does in a costly way.
 *
 * memcpy, memset and memcmp go a word at a time here: that library's, built for size, goes a byte
 * at a time, and that was two thirds of what a frame cost. Words that are not aligned are read by
 * LWL and LWR: two instructions. calloc does not zero what the kernel has just zeroed: pages that
 * nobody writes are not taken.
 *
 * Never built with -flto, which would find memcpy in memcpy. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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

/* zig's allocator (lib/std/heap/SmpAllocator.zig) has slabs of 64 KiB for what is smaller, and asks
 * the kernel for each of the others. */
#define FROM_KERNEL (64 * 1024)

void *calloc(size_t count, size_t size)
{
	size_t len;
	void *p;

	if (__builtin_mul_overflow(count, size, &len)) {
		errno = ENOMEM;
		return NULL;
	}
	p = malloc(len);
	if (p && len <= FROM_KERNEL)
		memset(p, 0, len);
	return p;
}
