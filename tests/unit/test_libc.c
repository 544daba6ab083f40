// SPDX-License-Identifier: GPL-2.0
/* The AP70's own functions of the C library against this machine's (packaging/ap70/libc.c; there,
 * against themselves).
 * links: none */
#include "unit.h"

#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <strings.h>
#include <sys/mman.h>

/* Before its names are others. */
static struct passwd *theirs_getpwnam(const char *name)
{
	return getpwnam(name);
}

#define memcpy ap70_memcpy
#define memset ap70_memset
#define memcmp ap70_memcmp
#define bcmp ap70_bcmp
#define calloc ap70_calloc
#define malloc ap70_malloc
#define realloc ap70_realloc
#define free ap70_free
#define qsort ap70_qsort
#define getpwnam ap70_getpwnam
#define strtol ap70_strtol
#define strtoul ap70_strtoul
#define strtoull ap70_strtoull
#define strsignal ap70_strsignal
void *ap70_memcpy(void *restrict to, const void *restrict from, size_t n);
int ap70_memcmp(const void *a, const void *b, size_t n);
void *ap70_calloc(size_t count, size_t size);
void *ap70_malloc(size_t size);
void *ap70_realloc(void *p, size_t size);
void ap70_free(void *p);
void ap70_qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
struct passwd *ap70_getpwnam(const char *name);
long ap70_strtol(const char *from, char **end, int base);
unsigned long ap70_strtoul(const char *from, char **end, int base);
unsigned long long ap70_strtoull(const char *from, char **end, int base);
#include "packaging/ap70/libc.c"
#undef memcpy
#undef memset
#undef memcmp
#undef bcmp
#undef calloc
#undef malloc
#undef realloc
#undef free
#undef qsort
#undef getpwnam
#undef strtol
#undef strtoul
#undef strtoull
#undef strsignal

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
/* Of the type that the function has: the value, where it ends, and errno. */
#define SAME(type, function, text, base)                                                           \
	do {                                                                                       \
		char *end_a = NULL, *end_b = NULL;                                                 \
		int err_a, err_b;                                                                  \
		type a, b;                                                                         \
                                                                                                   \
		errno = 0;                                                                         \
		a = ap70_##function(text, &end_a, base);                                           \
		err_a = errno;                                                                     \
		errno = 0;                                                                         \
		b = function(text, &end_b, base);                                                  \
		err_b = errno;                                                                     \
		if (a != b || err_a != err_b || end_a != end_b)                                    \
			fail_msg("'%s' to base %d: %d %d, %td %td", text, base, err_a, err_b,      \
				 end_a - (text), end_b - (text));                                  \
	} while (0)

static void same_number(const char *text, int base)
{
	SAME(long, strtol, text, base);
	SAME(unsigned long, strtoul, text, base);
	SAME(unsigned long long, strtoull, text, base);
}

static const char *const numbers[] = {
	"",
	" ",
	"0",
	"-0",
	"007",
	"08",
	"1",
	"+1",
	"-1",
	"--1",
	"+-1",
	"- 1",
	" \t\n\v\f\r42 ",
	"12ab",
	"12@",
	"1`",
	"1/",
	"1:",
	"1[",
	"1_",
	"0x",
	"-0x",
	"0xg",
	"0x1F",
	"-0Xff:",
	"ff",
	"zZ",
	"09",
	"1\xe9",
	"127",
	"2147483647",
	"2147483648",
	"-2147483648",
	"-2147483649",
	"4294967295",
	"4294967296",
	"9223372036854775807",
	"9223372036854775808",
	"-9223372036854775808",
	"-9223372036854775809",
	"18446744073709551615",
	"18446744073709551616",
	"-18446744073709551615",
	"-18446744073709551616",
	"99999999999999999999999999999999x",
	"0xffffffffffffffff",
	"0x10000000000000000",
	"01777777777777777777777",
	"02000000000000000000000",
};

static void numbers_are_the_same(void **state)
{
	static const int bases[] = { 0, 2, 8, 10, 16, 36 };

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++)
		for (size_t b = 0; b < COUNT(bases); b++)
			same_number(numbers[i], bases[b]);
}

/* What is between two characters that count, all of them. */
static void every_character_ends_as_theirs(void **state)
{
	char text[] = "1?1";

	(void)state;
	for (int c = 1; c < 256; c++) {
		text[1] = (char)c;
		same_number(text, 10);
		same_number(text, 16);
		same_number(text, 36);
	}
}

static int by_first(const void *a, const void *b)
{
	return *(const uint8_t *)a - *(const uint8_t *)b;
}

/* Elements of seven bytes: a key, and where it was. Equal ones stay in their order. */
static void what_is_sorted_is_in_order(void **state)
{
	uint8_t v[64][7];

	(void)state;
	srand(1);
	for (int round = 0; round < 200; round++) {
		int n = round % 65;

		for (int i = 0; i < n; i++) {
			memset(v[i], i, sizeof(v[i]));
			v[i][0] = rand() % 16;
		}
		ap70_qsort(v, n, sizeof(v[0]), by_first);
		for (int i = 1; i < n; i++) {
			assert_true(v[i - 1][0] < v[i][0] ||
				    (v[i - 1][0] == v[i][0] && v[i - 1][1] < v[i][1]));
			assert_memory_equal(v[i] + 1, v[i] + 2, 5);
		}
	}
}

static void users_are_the_same(void **state)
{
	static const char *const names[] = { "root", "daemon", "nobody", "no-such-user",
					     "roo",  "roott",  "",	 "root:x",
					     ":" };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		struct passwd *a = ap70_getpwnam(names[i]), *b = theirs_getpwnam(names[i]);

		assert_int_equal(!a, !b);
		if (a) {
			assert_int_equal(a->pw_uid, b->pw_uid);
			assert_int_equal(a->pw_gid, b->pw_gid);
		}
	}
}

static void lines_that_are_no_users_are_passed(void **state)
{
	static const char *const bad[] = { "u",	       "u:",	      "u:x",	     "u:x:",
					   "u:x:1",    "u:x:1:",      "u:x:a:2:",    "u:x:1:b:",
					   "u:x:1 :2", "u:x::2:name", "v:x:1:2:::/", "uu:x:1:2::" };
	struct passwd p = { 0 };
	char line[32];

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		strcpy(line, bad[i]);
		assert_false(passwd_line(line, "u", &p));
	}
	strcpy(line, "u:x:12:34:of:many:/parts");
	assert_true(passwd_line(line, "u", &p));
	assert_int_equal(p.pw_uid, 12);
	assert_int_equal(p.pw_gid, 34);
}

/* At each alignment, of each length. */
static void memory_is_as_theirs(void **state)
{
	uint8_t from[96], to[96], want[96];

	(void)state;
	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 7 + 1);
	for (size_t i = 0; i < 4 * 4 * 80; i++) {
		size_t a = i % 4, b = i / 4 % 4, n = i / 16;

		memset(to, 0xee, sizeof(to));
		memset(want, 0xee, sizeof(want));
		memcpy(want + b, from + a, n);
		assert_ptr_equal(ap70_memcpy(to + b, from + a, n), to + b);
		assert_memory_equal(to, want, sizeof(to));
		assert_int_equal(ap70_memcmp(to + b, from + a, n), 0);
		if (n) {
			to[b + n - 1]++;
			assert_true(ap70_memcmp(to + b, from + a, n) > 0);
			assert_true(ap70_memcmp(from + a, to + b, n) < 0);
		}
		memset(want + b, 0xa5, n);
		assert_ptr_equal(ap70_memset(to + b, 0x7a5, n), to + b);
		assert_memory_equal(to, want, sizeof(to));
	}
}

#define HELD 100

static struct held {
	uint8_t *p;
	size_t len;
} held[HELD];

static void is_as_left(const struct held *h, uint8_t byte)
{
	for (size_t i = 0; i < h->len; i++)
		assert_int_equal(h->p[i], byte);
}

static size_t some_len(void)
{
	static const size_t most[] = { 1, 40, 1000, 20000, FROM_KERNEL, 3 * FROM_KERNEL };

	return rand() % (most[rand() % COUNT(most)] + 1);
}

/* One that is held is given back or made another length, in the place of one that is not comes one.
 */
static void change(int i)
{
	struct held *h = &held[i];
	size_t len = some_len();

	if (h->p && rand() % 3) {
		is_as_left(h, i);
		ap70_free(h->p);
		*h = (struct held){ 0 };
		return;
	}
	is_as_left(h, i);
	if (h->p || rand() % 2) {
		h->p = ap70_realloc(h->p, len);
		h->len = len < h->len ? len : h->len;
		is_as_left(h, i);
	} else {
		h->p = ap70_calloc(1, len);
		h->len = len;
		is_as_left(h, 0);
	}
	assert_non_null(h->p);
	assert_int_equal((uintptr_t)h->p % 8, 0);
	h->len = len;
	memset(h->p, i, len);
}

/* Whatever is taken and given back is nobody else's, and in the end all is free, in one piece. */
static void memory_is_taken_and_given_back(void **state)
{
	size_t blocks = 0, len = 0;

	(void)state;
	srand(2);
	for (int n = 0; n < 20000; n++)
		change(rand() % HELD);
	for (int i = 0; i < HELD; i++)
		ap70_free(held[i].p);
	for (const struct block *b = free_first; b; b = b->next, blocks++)
		len += b->len;
	assert_int_equal(len % ARENA, 0);
	assert_true(blocks >= 1 && blocks <= len / ARENA);
	ap70_free(NULL);
}

static void too_much_is_refused(void **state)
{
	volatile size_t all = SIZE_MAX;

	(void)state;
	errno = 0;
	assert_null(ap70_malloc(all));
	assert_int_equal(errno, ENOMEM);
	assert_null(ap70_malloc(all / 2));
	assert_null(ap70_calloc(all / 2, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_the_same),
		cmocka_unit_test(every_character_ends_as_theirs),
		cmocka_unit_test(what_is_sorted_is_in_order),
		cmocka_unit_test(users_are_the_same),
		cmocka_unit_test(lines_that_are_no_users_are_passed),
		cmocka_unit_test(memory_is_as_theirs),
		cmocka_unit_test(memory_is_taken_and_given_back),
		cmocka_unit_test(too_much_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
