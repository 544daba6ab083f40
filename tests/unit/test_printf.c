// SPDX-License-Identifier: GPL-2.0
/* The AP70's printf against this machine's (packaging/ap70/printf.c; there, against itself).
 * links: none */
#include "unit.h"

#define printf ap70_printf
#define fprintf ap70_fprintf
#define vfprintf ap70_vfprintf
#define snprintf ap70_snprintf
#define vsnprintf ap70_vsnprintf
int ap70_printf(const char *restrict format, ...);
int ap70_fprintf(FILE *restrict stream, const char *restrict format, ...);
int ap70_vfprintf(FILE *restrict stream, const char *restrict format, va_list a);
int ap70_snprintf(char *restrict out, size_t size, const char *restrict format, ...);
int ap70_vsnprintf(char *restrict out, size_t size, const char *restrict format, va_list a);
#include "packaging/ap70/printf.c"
#undef printf
#undef fprintf
#undef vfprintf
#undef snprintf
#undef vsnprintf

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* The same text and the same count, whatever room there is. */
#define SAME(...)                                                                                  \
	do {                                                                                       \
		for (size_t room = 0; room < sizeof(ours); room += room < 4 ? 1 : 21) {            \
			memset(ours, 'z', sizeof(ours));                                           \
			memset(theirs, 'z', sizeof(theirs));                                       \
			assert_int_equal(ap70_snprintf(ours, room, __VA_ARGS__),                   \
					 snprintf(theirs, room, __VA_ARGS__));                     \
			assert_memory_equal(ours, theirs, sizeof(ours));                           \
		}                                                                                  \
	} while (0)

static char ours[90], theirs[90];

static const char *const widths[] = { "", "1", "3", "12", "25" };
static const char *const precisions[] = { "", ".", ".0", ".1", ".4", ".22" };
static const long long values[] = { 0,
				    1,
				    -1,
				    7,
				    8,
				    255,
				    -4096,
				    INT8_MIN,
				    INT16_MAX,
				    INT32_MAX,
				    INT32_MIN,
				    4294967295ll,
				    0x123456789abcdefll,
				    INT64_MAX,
				    INT64_MIN };

static void one_number(const char *format, const char *size, long long v)
{
	if (!strcmp(size, "ll") || !strcmp(size, "j"))
		SAME(format, v);
	else if (!*size || *size == 'h')
		SAME(format, (int)v);
	else
		SAME(format, (long)v);
}

/* One set of flags, a bit each, with every width, precision and size. */
static void numbers_with(int set, char conversion)
{
	static const char *const sizes[] = { "", "hh", "h", "l", "ll", "z", "j", "t" };
	char format[40], chosen[6] = "";

	for (int f = 0; f < 5; f++)
		if (set >> f & 1)
			strncat(chosen, &"-0+ #"[f], 1);
	for (size_t i = 0; i < COUNT(widths) * COUNT(precisions) * COUNT(sizes); i++) {
		const char *size = sizes[i % COUNT(sizes)];
		size_t rest = i / COUNT(sizes);

		snprintf(format, sizeof(format), "[%%%s%s%s%s%c]", chosen,
			 widths[rest % COUNT(widths)], precisions[rest / COUNT(widths)], size,
			 conversion);
		for (size_t v = 0; v < COUNT(values); v++)
			one_number(format, size, values[v]);
	}
}

static void numbers_are_the_same(void **state)
{
	(void)state;
	for (const char *c = "diuxXo"; *c; c++)
		for (int set = 0; set < 32; set++)
			if (!(set & 16) || strchr("xXo", *c)) /* '#' is of these alone */
				numbers_with(set, *c);
}

static void texts_are_the_same(void **state)
{
	static const char *const texts[] = { "", "a", "a name", "one that is longer than most" };
	static const char unended[3] = { 'a', 'b', 'c' };
	const char *volatile nothing = NULL; /* which the compiler would warn of */
	char format[40];

	(void)state;
	for (size_t i = 0; i < COUNT(widths) * COUNT(precisions) * 2; i++) {
		snprintf(format, sizeof(format), "<%%%s%s%ss>|", i % 2 ? "-" : "",
			 widths[i / 2 % COUNT(widths)], precisions[i / 2 / COUNT(widths)]);
		for (size_t t = 0; t < COUNT(texts); t++)
			SAME(format, texts[t]);
	}
	SAME("%.3s", unended);
	SAME("%c%3c%-3c|", 'a', 'b', 'c');
	SAME("%6s", nothing);
}

static void the_rest_is_the_same(void **state)
{
	(void)state;
	SAME("%s", "");
	SAME("100%% of %s", "it");
	SAME("%*d|%-*d|%*d", 5, 42, 5, 42, -5, 42);
	SAME("%.*s|%.*s|%*.*s", 2, "four", -1, "four", 6, 2, "four");
	SAME("%.*d|%.*u", 3, 7, -3, 7u);
	SAME("%p", (void *)texts_are_the_same);
	SAME("%d%s%llu%c%zu%hhx", -1, "two", 3ull, '4', (size_t)5, 0x106);
	SAME("%llu %llu %llu %llu %llu %d", 1ull, 2ull, 3ull, 4ull, 5ull, 6);
	assert_int_equal(ap70_snprintf(NULL, 0, "%s", "counted"), 7);
}

static void what_is_unknown_is_seen(void **state)
{
	(void)state;
	ap70_snprintf(ours, sizeof(ours), "a %k b %-8.2f%");
	assert_string_equal(ours, "a %k b %-8.2f%");
}

static void streams_have_what_memory_has(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len), *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(f);
	assert_int_equal(ap70_fprintf(f, "%-4s%04d|%s\n", "ab", 12, "cd"), 12);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, "ab  0012|cd\n");
	free(text);
	if (!full)
		return;
	setbuf(full, NULL);
	assert_true(ap70_fprintf(full, "no room") < 0);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_the_same),
		cmocka_unit_test(texts_are_the_same),
		cmocka_unit_test(the_rest_is_the_same),
		cmocka_unit_test(what_is_unknown_is_seen),
		cmocka_unit_test(streams_have_what_memory_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
