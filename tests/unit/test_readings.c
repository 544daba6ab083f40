// SPDX-License-Identifier: GPL-2.0
/* links: agent/capture/readings.o */
#include "unit.h"

#include <math.h>

#include "agent/capture/readings.h"

#define MS 1000000ULL
#define SECOND 1000000000ULL

/* A clock that the test moves, and what a reader of the chosen readings knows. */
struct world {
	struct readings readings;
	struct clock_offset clock;
	double raw; /* CLOCK_MONOTONIC_RAW - CLOCK_MONOTONIC */
	struct clock_reading told[64];
	unsigned int count;
};

static const struct clock_offset begin = {
	.realtime_minus_monotonic_ns = 1700000000 * SECOND,
	.reading = { .monotonic_ns = 1000 * SECOND,
		     .realtime_minus_monotonic_ns = 1700000000LL * (int64_t)SECOND },
	.measured_ns = 1000 * SECOND,
	.took_ns = 60,
};

static struct world world(void)
{
	return (struct world){ .clock = begin };
}

/* Lets time pass at a rate, and reads the clocks. */
static void pass(struct world *w, uint64_t ns, double ppm)
{
	w->raw += ns * ppm / 1e6;
	w->clock.measured_ns += ns;
	w->clock.reading.monotonic_ns += ns;
	w->clock.reading.raw_minus_monotonic_ns = w->raw;
}

static unsigned int frame(struct world *w)
{
	struct clock_readings chosen = { 0 };

	if (readings_are_new(&w->readings, &w->clock))
		readings_choose(&w->readings, &w->clock, &chosen);
	assert_false(readings_are_new(&w->readings, &w->clock));
	assert_in_range(chosen.count, 0, READINGS_AT_ONCE);
	for (unsigned int i = 0; i < chosen.count; i++) {
		assert_in_range(w->count, 0, 63);
		w->told[w->count++] = chosen.list[i];
	}
	return chosen.count;
}

/* Returns the error of what a reader extrapolates from the last two readings. */
static double error(const struct world *w)
{
	const struct clock_reading *b = &w->told[w->count - 1], *a = b - 1;
	double rate = 0;

	if (w->count > 1)
		rate = (double)(b->raw_minus_monotonic_ns - a->raw_minus_monotonic_ns) /
		       (b->monotonic_ns - a->monotonic_ns);
	return b->raw_minus_monotonic_ns +
	       rate * (w->clock.reading.monotonic_ns - b->monotonic_ns) - w->raw;
}

static void a_steady_clock_is_read_once_a_second(void **state)
{
	struct world w = world();

	(void)state;
	assert_int_equal(frame(&w), 1);
	for (int i = 0; i < 100; i++) {
		pass(&w, 100 * MS, 0);
		frame(&w);
	}
	assert_int_equal(w.count, 11);
	assert_true(error(&w) == 0);
}

static void a_steady_rate_takes_two_readings_more(void **state)
{
	struct world w = world();

	(void)state;
	for (int i = 0; i < 100; i++) {
		pass(&w, 100 * MS, 50);
		frame(&w);
		assert_true(fabs(error(&w)) <= READINGS_ERROR_NS + 60);
	}
	assert_in_range(w.count, 10, 12);
}

static void a_slew_is_told_with_its_beginning(void **state)
{
	struct world w = world();
	uint64_t began;

	(void)state;
	for (int i = 0; i < 25; i++) {
		pass(&w, 100 * MS, 20);
		frame(&w);
	}
	began = w.clock.reading.monotonic_ns;
	w.count = 0;
	pass(&w, 100 * MS, 520);
	assert_int_equal(frame(&w), 2);
	assert_true(w.told[0].monotonic_ns == began);
	assert_true(w.told[1].monotonic_ns == began + 100 * MS);
	assert_true(error(&w) == 0);
	for (int i = 0; i < 9; i++) {
		pass(&w, 100 * MS, 520);
		assert_int_equal(frame(&w), 0);
		assert_true(fabs(error(&w)) <= READINGS_ERROR_NS + 60);
	}
}

static void noise_is_no_slew(void **state)
{
	static const int noise[] = { 0, 40, -40, 17, -3, 5, 40, -40, -40, 12, 33 };
	struct world w = world();

	(void)state;
	for (unsigned int i = 0; i < 300; i++) {
		pass(&w, 100 * MS, -30);
		w.clock.reading.raw_minus_monotonic_ns += noise[i % 11];
		w.count = w.count > 60 ? 60 : w.count;
		frame(&w);
	}
	w.count = 0;
	for (unsigned int i = 0; i < 100; i++) {
		pass(&w, 100 * MS, -30);
		w.clock.reading.raw_minus_monotonic_ns += noise[i % 11];
		frame(&w);
	}
	assert_in_range(w.count, 9, 11);
}

/* On a machine without vDSO and with a slow CPU, a reading takes microseconds. */
static void a_reading_that_took_long_may_be_wrong(void **state)
{
	struct world w = world();

	(void)state;
	w.clock.took_ns = 6000;
	frame(&w);
	for (int i = 0; i < 9; i++) {
		pass(&w, 100 * MS, 0);
		w.clock.reading.raw_minus_monotonic_ns += i % 2 ? 3000 : -3000;
		assert_int_equal(frame(&w), 0);
	}
}

static void a_step_is_told_at_once(void **state)
{
	struct world w = world();

	(void)state;
	frame(&w);
	pass(&w, 100 * MS, 0);
	frame(&w);
	w.clock.reading.realtime_minus_monotonic_ns -= 1;
	pass(&w, 1 * MS, 0);
	assert_int_equal(frame(&w), 1);
	assert_true(w.told[1].realtime_minus_monotonic_ns ==
		    begin.reading.realtime_minus_monotonic_ns - 1);
	pass(&w, 100 * MS, 0);
	assert_int_equal(frame(&w), 0);
}

/* Between frames, the clocks are read, but readings are chosen only for a frame. The last two
 * readings then show the present rate. */
static void after_a_silence_the_present_rate_is_told(void **state)
{
	struct world w = world();

	(void)state;
	for (int i = 0; i < 20; i++) {
		pass(&w, 100 * MS, 0);
		frame(&w);
	}
	for (int i = 0; i < 50000; i++) {
		pass(&w, 100 * MS, i < 25000 ? -500 : 500);
		readings_look(&w.readings, &w.clock);
		readings_look(&w.readings, &w.clock); /* the same reading again */
	}
	w.count = 0;
	assert_int_equal(frame(&w), 2);
	assert_true(error(&w) == 0);
	pass(&w, 100 * MS, 500);
	assert_int_equal(frame(&w), 0);
	assert_true(fabs(error(&w)) <= READINGS_ERROR_NS + 60);
}

/* The clocks were not read for hours, as the process was stopped. */
static void after_a_stop_any_span_is_computed(void **state)
{
	struct world w = world();

	(void)state;
	frame(&w);
	pass(&w, 100000 * SECOND, 500);
	assert_int_equal(frame(&w), 1);
	for (int i = 0; i < 95; i++) {
		pass(&w, 100 * MS, 500);
		frame(&w);
		assert_true(fabs(error(&w)) <= READINGS_ERROR_NS + 60);
	}
	assert_in_range(w.count, 10, 12);
}

static void without_the_raw_clock_nothing_is_told(void **state)
{
	struct world w = world();

	(void)state;
	w.clock.reading = (struct clock_reading){ 0 };
	assert_int_equal(frame(&w), 0);
	w.clock.measured_ns += SECOND;
	assert_int_equal(frame(&w), 0);
	assert_false(readings_are_new(&w.readings, NULL)); /* frames of a file */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_steady_clock_is_read_once_a_second),
		cmocka_unit_test(a_steady_rate_takes_two_readings_more),
		cmocka_unit_test(a_slew_is_told_with_its_beginning),
		cmocka_unit_test(noise_is_no_slew),
		cmocka_unit_test(a_reading_that_took_long_may_be_wrong),
		cmocka_unit_test(a_step_is_told_at_once),
		cmocka_unit_test(after_a_silence_the_present_rate_is_told),
		cmocka_unit_test(after_a_stop_any_span_is_computed),
		cmocka_unit_test(without_the_raw_clock_nothing_is_told),
	};

	return cmocka_run_group_tests_name("readings", tests, NULL, NULL);
}
