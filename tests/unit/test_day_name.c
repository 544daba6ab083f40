// SPDX-License-Identifier: GPL-2.0
/* links: keep/place/day_name.o */
/* The names of days, and the days of files with any time. */
#include "unit.h"

#include "common/file_time.h"
#include "keep/place/day_name.h"

static void test_a_files_day(void **state)
{
	static const struct {
		struct timespec time;
		int64_t ns;
		const char *day;
	} files[] = {
		{ { 0, 0 }, 0, "day=1970-01-01" },
		{ { -1, 999999999 }, 0, "day=1970-01-01" },
		{ { INT64_MIN, 0 }, 0, "day=1970-01-01" },
		{ { 86399, 999999999 }, 86399999999999, "day=1970-01-01" },
		{ { 86400, 0 }, 86400000000000, "day=1970-01-02" },
		{ { 1795413740, 5 }, 1795413740000000005, "day=2026-11-23" },
		{ { 7258118399, 999999999 }, 7258118399999999999, "day=2199-12-31" },
		{ { 7258118400, 999999999 }, 7258118400000000000, "day=2200-01-01" },
		{ { 253402300800, 0 }, 7258118400000000000, "day=2200-01-01" }, /* of 10000 */
		{ { INT64_MAX, 999999999 }, 7258118400000000000, "day=2200-01-01" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		const struct stat st = { .st_mtim = files[i].time };
		char name[DAY_NAME];

		assert_true(file_time_ns(&st) == files[i].ns);
		day_of(file_time_ns(&st), name);
		assert_string_equal(name, files[i].day);
		assert_true(day_is_valid(name));
	}
}

/* A limit of an age can be before 1970. */
static void test_any_time_has_a_day(void **state)
{
	char name[DAY_NAME];

	(void)state;
	day_of(INT64_MIN, name);
	assert_string_equal(name, "day=1677-09-21");
	day_of(INT64_MAX, name);
	assert_string_equal(name, "day=2262-04-11");
}

static void test_other_names(void **state)
{
	static const char *const names[] = {
		"", "day=", "day=2026-11-3", "day=2026-11-300", "day=2026-1a-30", "day=1730806995-",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_false(day_is_valid(names[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_files_day),
		cmocka_unit_test(test_any_time_has_a_day),
		cmocka_unit_test(test_other_names),
	};

	return cmocka_run_group_tests_name("day_name", tests, NULL, NULL);
}
