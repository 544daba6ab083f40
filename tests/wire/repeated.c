// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the strings of 8 bytes that occur more than once in a recording, for
 * tests/wire/test_unlinkable.py. A library, called by ctypes.
 *
 * A recording of 20,000 handshakes has 300 million strings; sorting them takes 40 seconds. Instead
 * they are divided by a hash value among buckets. In a bucket, whose bitmaps stay in the CPU's
 * cache, a bit for each hash value finds the few strings that share theirs, and only those are
 * sorted.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LEN 8
#define BUCKET_BITS 10
#define BUCKETS (1 << BUCKET_BITS)
#define HASH_BITS 22 /* within a bucket */

struct recording {
	const uint8_t *data; /* the datagrams, one after the other */
	const uint16_t *lengths;
	size_t count;
};

struct bitmap {
	uint64_t words[(1 << HASH_BITS) / 64];
};

static uint64_t string_at(const uint8_t *data)
{
	uint64_t string;

	memcpy(&string, data, LEN);
	return string;
}

static uint64_t hash(uint64_t string)
{
	return string * 0x9e3779b97f4a7c15;
}

static size_t bucket_of(uint64_t string)
{
	return hash(string) >> (64 - BUCKET_BITS);
}

static uint32_t bit_of(uint64_t string)
{
	return hash(string) >> (64 - BUCKET_BITS - HASH_BITS) & ((1 << HASH_BITS) - 1);
}

static bool is_set(const struct bitmap *b, uint32_t bit)
{
	return b->words[bit / 64] >> (bit % 64) & 1;
}

static void set(struct bitmap *b, uint32_t bit)
{
	b->words[bit / 64] |= 1UL << (bit % 64);
}

/* Sets begins[n] to bucket n's begin among all strings; the last is the number of all. */
static void measure(const struct recording *r, size_t begins[static BUCKETS + 1])
{
	const uint8_t *d = r->data;

	memset(begins, 0, (BUCKETS + 1) * sizeof(*begins));
	for (size_t n = 0; n < r->count; d += r->lengths[n++])
		for (int i = 0; i + LEN <= r->lengths[n]; i++)
			begins[bucket_of(string_at(d + i)) + 1]++;
	for (int n = 0; n < BUCKETS; n++)
		begins[n + 1] += begins[n];
}

/* No string crosses a datagram's end. */
static void divide(const struct recording *r, const size_t *begins, uint64_t *strings)
{
	const uint8_t *d = r->data;
	size_t at[BUCKETS];

	memcpy(at, begins, sizeof(at));
	for (size_t n = 0; n < r->count; d += r->lengths[n++]) {
		for (int i = 0; i + LEN <= r->lengths[n]; i++) {
			uint64_t string = string_at(d + i);

			strings[at[bucket_of(string)]++] = string;
		}
	}
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Returns how many of the strings an earlier one equals. Changes their order. */
static size_t repeated_in(uint64_t *strings, size_t count)
{
	static struct bitmap once, again;
	size_t shared = 0, repeated = 0;

	memset(&once, 0, sizeof(once));
	memset(&again, 0, sizeof(again));
	for (size_t n = 0; n < count; n++) {
		uint32_t bit = bit_of(strings[n]);

		if (is_set(&once, bit))
			set(&again, bit);
		set(&once, bit);
	}
	for (size_t n = 0; n < count; n++)
		if (is_set(&again, bit_of(strings[n])))
			strings[shared++] = strings[n];
	qsort(strings, shared, sizeof(*strings), compare);
	for (size_t n = 1; n < shared; n++)
		repeated += strings[n] == strings[n - 1];
	return repeated;
}

/* Returns how many of a recording's strings an earlier one equals, and sets *total to the number of
 * all strings. Returns -1 without memory. */
long repeated(const uint8_t *data, const uint16_t *lengths, size_t datagrams, size_t *total);

long repeated(const uint8_t *data, const uint16_t *lengths, size_t datagrams, size_t *total)
{
	struct recording r = { data, lengths, datagrams };
	size_t begins[BUCKETS + 1], size;
	uint64_t *strings;
	long result = 0;

	measure(&r, begins);
	*total = begins[BUCKETS];
	size = (*total + 1) * sizeof(*strings);
	strings = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (strings == MAP_FAILED)
		return -1;
	madvise(strings, size,
		MADV_HUGEPAGE); /* so many buckets would need too many small pages at a time */
	divide(&r, begins, strings);
	for (int n = 0; n < BUCKETS; n++)
		result += repeated_in(strings + begins[n], begins[n + 1] - begins[n]);
	munmap(strings, size);
	return result;
}
