// SPDX-License-Identifier: GPL-2.0
/* links: */
/* When it is said that two clocks differ, and how times are written for people. */
#include "common/duration.h"
#include "common/skew.h"
#include "unit.h"

#define S_US 1000000LL
#define S 1000000000ULL

static void test_a_minute_is_nothing(void **state)
{
	struct skew s = { 0 };

	(void)state;
	for (int64_t i = -60; i <= 60; i++)
		assert_int_equal(skew_look(&s, i * S_US, (1000 + i) * S), SKEW_NOTHING);
}

static void test_once_for_each_change(void **state)
{
	struct skew s = { 0 };
	const int64_t day = 86400 * S_US;

	(void)state;
	assert_int_equal(skew_look(&s, -day, 1000 * S), SKEW_DIFFERS);
	for (uint64_t i = 1001; i < 5000; i++)
		assert_int_equal(skew_look(&s, -day + 30 * S_US, i * S), SKEW_NOTHING);
	assert_int_equal(skew_look(&s, day, 5000 * S), SKEW_DIFFERS);
	assert_int_equal(skew_look(&s, 0, 5001 * S), SKEW_IS_OVER);
	assert_int_equal(skew_look(&s, 0, 5002 * S), SKEW_NOTHING);
	/* Not before a minute has passed. */
	assert_int_equal(skew_look(&s, day, 5059 * S), SKEW_NOTHING);
	assert_int_equal(skew_look(&s, day, 5060 * S), SKEW_DIFFERS);
}

/* Drift is reported too, and absurd numbers of a stranger do no harm. */
static void test_drift_and_strange_numbers(void **state)
{
	struct skew s = { 0 };
	unsigned int said = 0;

	(void)state;
	for (uint64_t i = 0; i < 600; i++)
		said += skew_look(&s, (int64_t)i * 10 * S_US, (1000 + i) * S) != SKEW_NOTHING;
	assert_in_range(said, 9, 11); /* each minute */
	assert_true(skew_ahead_us(UINT64_MAX, 0) > 0);
	assert_true(skew_ahead_us(0, UINT64_MAX) < 0);
	assert_int_equal(skew_look(&s, skew_ahead_us(UINT64_MAX, 0), 5000 * S), SKEW_DIFFERS);
	assert_int_equal(skew_look(&s, skew_ahead_us(0, UINT64_MAX), 6000 * S), SKEW_DIFFERS);
}

static void test_times_for_people(void **state)
{
	static const struct {
		uint64_t us;
		const char *text;
	} cases[] = {
		{ 0, "0 us" },
		{ 1, "1 us" },
		{ 1999, "1999 us" },
		{ 2000, "2 ms" },
		{ 1999999, "2000 ms" },
		{ 2600000, "3 s" },
		{ 119000000, "119 s" },
		{ 26214000000ULL, "7 h" },
		{ 600000000, "10 min" },
		{ 86400000000ULL, "24 h" },
		{ 172800000000ULL, "2 days" },
		{ UINT64_MAX, "213503982 days" },
	};
	char text[DURATION_TEXT_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(duration_text(text, cases[i].us), cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_minute_is_nothing),
		cmocka_unit_test(test_once_for_each_change),
		cmocka_unit_test(test_drift_and_strange_numbers),
		cmocka_unit_test(test_times_for_people),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
