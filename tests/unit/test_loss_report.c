// SPDX-License-Identifier: GPL-2.0
/* links: agent/control/loss_report.o */
/* What is said of frames that a full store gives up, and when. */
#include "unit.h"

#include "agent/control/loss_report.h"

#define S 1000000000ULL

static void test_nothing_is_lost(void **state)
{
	struct loss_report l = { 0 };

	(void)state;
	for (uint64_t s = 1; s < 100; s++)
		assert_int_equal(loss_report_look(&l, 0, s * S), LOSS_REPORT_NOTHING);
}

/* Once at the beginning, once a minute, and once at the end. */
static void test_goes_on(void **state)
{
	struct loss_report l = { 0 };
	unsigned int said[4] = { 0 };

	(void)state;
	assert_int_equal(loss_report_look(&l, 1, 1000 * S), LOSS_REPORT_BEGINS);
	for (uint64_t s = 1; s <= 180; s++)
		said[loss_report_look(&l, 1 + s, (1000 + s) * S)]++;
	assert_int_equal(said[LOSS_REPORT_GOES_ON], 3);
	assert_int_equal(said[LOSS_REPORT_BEGINS] + said[LOSS_REPORT_IS_OVER], 0);
	for (uint64_t s = 181; s < 190; s++)
		assert_int_equal(loss_report_look(&l, 181, (1000 + s) * S), LOSS_REPORT_NOTHING);
	assert_int_equal(loss_report_look(&l, 181, 1190 * S), LOSS_REPORT_IS_OVER);
	assert_int_equal(loss_report_look(&l, 181, 2000 * S), LOSS_REPORT_NOTHING);
}

/* A loss that comes and goes logs two lines a minute at most. */
static void test_comes_and_goes(void **state)
{
	struct loss_report l = { 0 };
	unsigned int lines = 0;

	(void)state;
	for (uint64_t s = 0; s < 600; s++)
		lines += loss_report_look(&l, 1 + s / 15, (1000 + s) * S) != LOSS_REPORT_NOTHING;
	assert_in_range(lines, 10, 20);
}

/* Losses in a minute without a log line are in the report at the end. */
static void test_told_late(void **state)
{
	struct loss_report l = { 0 };

	(void)state;
	assert_int_equal(loss_report_look(&l, 5, 1000 * S), LOSS_REPORT_BEGINS);
	assert_int_equal(loss_report_look(&l, 5, 1010 * S), LOSS_REPORT_IS_OVER);
	assert_int_equal(loss_report_look(&l, 9, 1020 * S), LOSS_REPORT_NOTHING);
	assert_int_equal(loss_report_look(&l, 9, 1059 * S), LOSS_REPORT_NOTHING);
	assert_int_equal(loss_report_look(&l, 9, 1060 * S), LOSS_REPORT_IS_OVER);
	assert_int_equal(loss_report_look(&l, 9, 1200 * S), LOSS_REPORT_NOTHING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_lost),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_comes_and_goes),
		cmocka_unit_test(test_told_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
