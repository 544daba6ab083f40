// SPDX-License-Identifier: GPL-2.0
/* links: agent/source/clock.o */
#include "unit.h"

#include "agent/source/clock.h"

static void stamps_are_those_of_the_real_clock(void **state)
{
	struct clock_offset c = { 0 };
	uint64_t before, stamp, after;

	(void)state;
	clock_measure(&c, monotonic_ns());
	before = clock_ns(CLOCK_REALTIME);
	stamp = clock_realtime(&c, monotonic_ns());
	after = clock_ns(CLOCK_REALTIME); /* late where the test lost the CPU in between */
	assert_in_range(stamp, before - 1000000, after + 1000000);
}

static void stamps_do_not_go_back(void **state)
{
	struct clock_offset c = { .realtime_minus_monotonic_ns = 1000, .measured_ns = 1 };

	(void)state;
	assert_int_equal(clock_realtime(&c, 500000), 501000);
	assert_int_equal(clock_realtime(&c, 499990), 501000); /* of another CPU */
	c.realtime_minus_monotonic_ns = 900;		      /* slewed */
	assert_int_equal(clock_realtime(&c, 500050), 501000);
	assert_int_equal(clock_realtime(&c, 500200), 501100);
}

static void a_clock_that_was_set_back_is_believed(void **state)
{
	struct clock_offset c = { .realtime_minus_monotonic_ns = 5000000000ULL, .measured_ns = 1 };

	(void)state;
	assert_int_equal(clock_realtime(&c, 100), 5000000100ULL);
	c.realtime_minus_monotonic_ns = 0;
	assert_int_equal(clock_realtime(&c, 200), 200);
}

static void measured_once_a_second(void **state)
{
	struct clock_offset c = { .realtime_minus_monotonic_ns = 7, .measured_ns = 5000000000ULL };

	(void)state;
	clock_measure(&c, 5999999999ULL);
	clock_measure(&c, 4000000000ULL); /* a stamp older than the measurement */
	assert_int_equal(c.realtime_minus_monotonic_ns, 7);
	clock_measure(&c, 6000000000ULL);
	assert_int_not_equal(c.realtime_minus_monotonic_ns, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stamps_are_those_of_the_real_clock),
		cmocka_unit_test(stamps_do_not_go_back),
		cmocka_unit_test(a_clock_that_was_set_back_is_believed),
		cmocka_unit_test(measured_once_a_second),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
