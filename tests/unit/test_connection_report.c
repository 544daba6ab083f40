// SPDX-License-Identifier: GPL-2.0
/* links: agent/control/connection_report.o wire/keys.o */
/* Log lines about connections that are made, lost and made again. */
#include "unit.h"

#include "agent/control/connection_report.h"

#define S 1000000000ULL

static const struct connection_state down = { false, 0 }, first = { true, 0 }, second = { true, 1 };

static void test_the_common_case(void **state)
{
	struct connection_report r = { 0 };

	(void)state;
	assert_false(connection_report_look(&r, &down, 1 * S, true));
	assert_true(connection_report_look(&r, &first, 2 * S, true));
	assert_false(connection_report_look(&r, &first, 900 * S, true));
	assert_true(connection_report_look(&r, &down, 1000 * S, true));
	assert_false(connection_report_look(&r, &down, 1001 * S, true));
	assert_true(connection_report_look(&r, &first, 1012 * S, true));
	assert_int_equal(r.back_ns - r.lost_ns, 12 * S);
}

/* With and without a silence between them. */
static void test_another_collector(void **state)
{
	struct connection_report r = { 0 };

	(void)state;
	assert_true(connection_report_look(&r, &first, 1 * S, true));
	assert_true(connection_report_look(&r, &second, 2 * S, true));
	assert_true(
		connection_report_look(&r, &(struct connection_state){ false, 1 }, 3 * S, true));
	assert_true(connection_report_look(&r, &first, 9 * S, true));
}

/* A connection that comes and goes each second: a few lines a minute, and then the last state. */
static void test_comes_and_goes(void **state)
{
	struct connection_report r = { 0 }, every = { 0 };
	unsigned int lines = 0, all = 0;

	(void)state;
	for (uint64_t s = 1; s <= 600; s++) {
		const struct connection_state *now = s % 2 ? &first : &down;

		lines += connection_report_look(&r, now, s * S, true);
		all += connection_report_look(&every, now, s * S, false);
	}
	assert_int_equal(all, 600);
	assert_in_range(lines, 50, 10 * CONNECTION_REPORT_LINES);
	while (connection_report_look(&r, &down, 601 * S, true))
		;
	assert_true(connection_report_look(&r, &first, 700 * S, true));
	assert_true(r.changes > 1);
}

/* A change that the limit withheld is logged as soon as the limit allows, unless it is over. */
static void test_told_late(void **state)
{
	struct connection_report r = { 0 };

	(void)state;
	for (uint64_t s = 1; s <= CONNECTION_REPORT_LINES; s++)
		assert_true(connection_report_look(&r, s % 2 ? &first : &down, s * S, true));
	assert_false(connection_report_look(&r, &first, 10 * S, true));
	assert_false(connection_report_look(&r, &first, 60 * S, true));
	assert_true(connection_report_look(&r, &first, 61 * S, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_common_case),
		cmocka_unit_test(test_another_collector),
		cmocka_unit_test(test_comes_and_goes),
		cmocka_unit_test(test_told_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
