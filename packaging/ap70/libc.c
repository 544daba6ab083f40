// SPDX-License-Identifier: GPL-2.0
/* What the C library that comes with the compiler does in a costly way.
 *
 * memcpy, memset and memcmp go a word at a time here: that library's, built for size, goes a byte
 * at a time, and that was two thirds of what a frame cost. Words that are not aligned are read by
 * LWL and LWR: two instructions. malloc puts what is small side by side, and calloc does not zero
 * what the kernel has just zeroed: pages that nobody writes are not taken.
 *
 * What it has for more than a sensor wants: sorting is of a few addresses of a name, users are in
 * /etc/passwd, signals have numbers. 7 KB less.
 *
 * Never built with -flto, which would find memcpy in memcpy. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

/* ---- memory ---------------------------------------------------------------------------------- */

/* A list of free blocks by address, the first one that is large enough is cut (Kernighan and
 * Ritchie, section 8.7). zig's allocator has 64 KiB for each power of two, and touches a page of
 * each. What is large is the kernel's own, and goes back to it. */
#define FROM_KERNEL (64 * 1024)
#define ARENA (256 * 1024) /* no page of it is there before it is written to */
#define UNIT sizeof(struct block)
#define PAGE 4096

struct block {
	size_t len; /* with this header, a multiple of its size */
	struct block *next;
} __attribute__((aligned(8)));

static struct block *free_first;
static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;

static struct block *from_kernel(size_t len)
{
	struct block *b =
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (b == MAP_FAILED)
		return NULL;
	b->len = len;
	return b;
}

/* Puts a block where it belongs, and together with what it touches. */
static void give(struct block *b)
{
	struct block **at = &free_first, *before = NULL;

	for (; *at && *at < b; at = &(*at)->next)
		before = *at;
	b->next = *at;
	*at = b;
	if (b->next && (uint8_t *)b + b->len == (uint8_t *)b->next) {
		b->len += b->next->len;
		b->next = b->next->next;
	}
	if (before && (uint8_t *)before + before->len == (uint8_t *)b) {
		before->len += b->len;
		before->next = b->next;
	}
}

/* From the beginning of a free block, so that its end stays untouched. */
static struct block *cut(size_t len)
{
	for (struct block **at = &free_first; *at; at = &(*at)->next) {
		struct block *b = *at, *rest = (struct block *)((uint8_t *)b + len);

		if (b->len < len)
			continue;
		if (b->len - len >= UNIT) {
			rest->len = b->len - len;
			rest->next = b->next;
			*at = rest;
			b->len = len;
		} else {
			*at = b->next;
		}
		return b;
	}
	return NULL;
}

void *malloc(size_t n)
{
	size_t len = (n + 2 * UNIT - 1) / UNIT * UNIT;
	struct block *b;

	if (len < n) {
		errno = ENOMEM;
		return NULL;
	}
	if (n > FROM_KERNEL) {
		b = from_kernel((len + PAGE - 1) / PAGE * PAGE);
	} else {
		pthread_mutex_lock(&memory_lock);
		b = cut(len);
		if (!b) {
			b = from_kernel(ARENA);
			if (b)
				give(b);
			b = cut(len);
		}
		pthread_mutex_unlock(&memory_lock);
	}
	if (!b)
		errno = ENOMEM;
	return b ? b + 1 : NULL;
}

void free(void *p)
{
	struct block *b;
	int err = errno;

	if (!p)
		return;
	b = (struct block *)p - 1;
	if (b->len > FROM_KERNEL + UNIT) {
		munmap(b, b->len);
	} else {
		pthread_mutex_lock(&memory_lock);
		give(b);
		pthread_mutex_unlock(&memory_lock);
	}
	errno = err;
}

void *realloc(void *p, size_t n)
{
	void *q = malloc(n);
	size_t len = p ? ((struct block *)p - 1)->len - UNIT : 0;

	if (q && p) {
		memcpy(q, p, len < n ? len : n);
		free(p);
	}
	return q;
}

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

/* ---- what else ------------------------------------------------------------------------------- */

static void swap(uint8_t *a, uint8_t *b, size_t size)
{
	while (size--) {
		uint8_t c = *a;

		*a++ = *b;
		*b++ = c;
	}
}

/* By insertion. */
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	uint8_t *first = base;

	for (size_t i = 1; i < count; i++)
		for (uint8_t *p = first + i * size; p > first && compare(p - size, p) > 0;
		     p -= size)
			swap(p - size, p, size);
}

/* name:password:uid:gid:... Returns whether the line is of this user, and one that can be read. */
static int passwd_line(char *line, const char *name, struct passwd *out)
{
	size_t len = strlen(name);
	char *at = line + len + 1, *end;

	if (strncmp(line, name, len) || line[len] != ':')
		return 0;
	at = strchr(at, ':');
	if (!at)
		return 0;
	out->pw_uid = strtoul(at + 1, &end, 10);
	if (end == at + 1 || *end != ':')
		return 0;
	at = end;
	out->pw_gid = strtoul(at + 1, &end, 10);
	return end != at + 1 && *end == ':';
}

/* Of the user found there are the numbers alone. */
struct passwd *getpwnam(const char *name)
{
	static struct passwd found;
	FILE *f = fopen("/etc/passwd", "re");
	char line[512];
	int is = 0;

	while (f && !is && fgets(line, sizeof(line), f))
		is = passwd_line(line, name, &found);
	if (f)
		fclose(f);
	return is ? &found : NULL;
}

/* What a digit counts, to base 36; a number beyond any base: it is none. */
static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

/* One for all widths; as ISO C has it, but for locales. */
static unsigned long long number(const char *from, char **end, int base, unsigned long long max,
				 int is_signed)
{
	const char *at = from + strspn(from, " \t\n\v\f\r"), *digits;
	int minus = *at == '-', is_over = 0;
	unsigned long long v = 0;

	at += *at == '-' || *at == '+';
	if ((base == 0 || base == 16) && at[0] == '0' && (at[1] | 32) == 'x' && digit(at[2]) < 16) {
		at += 2;
		base = 16;
	} else if (base == 0) {
		base = *at == '0' ? 8 : 10;
	}
	for (digits = at; digit(*at) < base; at++) {
		int d = digit(*at);

		is_over |= v > (max + (is_signed && minus) - d) / base;
		v = v * base + d;
	}
	if (end)
		*end = (char *)(at == digits ? from : at);
	if (is_over) {
		errno = ERANGE;
		return is_signed && minus ? -max - 1 : max;
	}
	return minus ? -v : v;
}

long strtol(const char *from, char **end, int base)
{
	return (long)number(from, end, base, LONG_MAX, 1);
}

unsigned long strtoul(const char *from, char **end, int base)
{
	return (unsigned long)number(from, end, base, ULONG_MAX, 0);
}

unsigned long long strtoull(const char *from, char **end, int base)
{
	return number(from, end, base, ULLONG_MAX, 0);
}

char *strsignal(int number)
{
	(void)number;
	return "see signal(7)"; /* their names are 1 KB */
}
