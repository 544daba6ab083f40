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

static void measured_ten_times_a_second(void **state)
{
	struct clock_offset c = { .realtime_minus_monotonic_ns = 7, .measured_ns = 5000000000ULL };

	(void)state;
	clock_measure(&c, 5099999999ULL);
	clock_measure(&c, 4000000000ULL); /* a stamp older than the measurement */
	assert_int_equal(c.realtime_minus_monotonic_ns, 7);
	clock_measure(&c, 5100000000ULL);
	assert_int_not_equal(c.realtime_minus_monotonic_ns, 7);
}

static uint64_t distance(void)
{
	uint64_t before = monotonic_ns(), real = clock_ns(CLOCK_REALTIME);

	return real - before;
}

/* Nobody sets the clock during the test: measuring errors do not change the difference. */
static void a_difference_stays_until_the_clock_is_set(void **state)
{
	struct clock_offset c = { 0 };
	uint64_t first;

	(void)state;
	clock_measure(&c, 1000000000ULL);
	first = c.realtime_minus_monotonic_ns;
	for (uint64_t at = 2; at < 2000; at++) {
		clock_measure(&c, at * 1000000000ULL);
		assert_true(c.realtime_minus_monotonic_ns == first);
	}
	c.realtime_minus_monotonic_ns = distance() - 60000000; /* it was set by 60 ms */
	c.last_ns = distance() + monotonic_ns();
	clock_measure(&c, 2001 * 1000000000ULL);
	assert_in_range(c.realtime_minus_monotonic_ns - first + 50000, 0, 100000);
	assert_int_equal(clock_realtime(&c, 5), c.realtime_minus_monotonic_ns + 5);
}

static void a_reading_has_the_difference_that_stamps_are_made_with(void **state)
{
	struct clock_offset c = { 0 };
	uint64_t before = monotonic_ns(), after;

	(void)state;
	clock_measure(&c, before);
	after = monotonic_ns();
	assert_in_range(c.reading.monotonic_ns, before, after);
	assert_true((uint64_t)c.reading.realtime_minus_monotonic_ns ==
		    c.realtime_minus_monotonic_ns);
	assert_in_range(c.took_ns, 0, after - before);
	before = clock_ns(CLOCK_MONOTONIC_RAW);
	after = monotonic_ns(); /* later, so the difference is too low */
	assert_in_range(c.reading.raw_minus_monotonic_ns - (int64_t)(before - after) + 1000000, 0,
			200000000); /* late where the test lost the CPU in between */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stamps_are_those_of_the_real_clock),
		cmocka_unit_test(stamps_do_not_go_back),
		cmocka_unit_test(a_clock_that_was_set_back_is_believed),
		cmocka_unit_test(measured_ten_times_a_second),
		cmocka_unit_test(a_difference_stays_until_the_clock_is_set),
		cmocka_unit_test(a_reading_has_the_difference_that_stamps_are_made_with),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
