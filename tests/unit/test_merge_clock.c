// SPDX-License-Identifier: GPL-2.0
/* links: merge/clock/clock.o merge/clock/find.o merge/clock/bridge.o merge/clock/queue.o */
#include "unit.h"

#include <math.h>

#include "merge/clock/bridge.h"
#include "merge/clock/find.h"

#define SECOND_NS 1000000000LL
#define MS 1000000LL

static struct clock c;
static struct course course;

static void begin(void)
{
	c = (struct clock){ 0 };
	course = (struct course){ 0 };
	clock_set(&c, 0, 0, 1e3, 1e-6);
}

static struct mark mark(int64_t own_ns, int64_t distance_ns)
{
	return (struct mark){ own_ns, distance_ns };
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The clock itself has not learned of the slew. */
static void a_slew_fits(void **state)
{
	(void)state;
	begin();
	for (int64_t own = 0; own < 20 * SECOND_NS; own += 50 * MS) {
		struct mark m = mark(own, own / 2000);

		assert_true(!own || course_fits(&course, &c, &m));
		course_add(&course, &c, &m);
	}
	assert_in_range(course_off(&course, &c), 9 * MS, 10 * MS);
}

/* The reference after a late one fits, as the ones before it were in time. */
static void a_late_reference_is_not_the_course(void **state)
{
	struct mark late = mark(8 * 50 * MS, -1300000), next = mark(9 * 50 * MS, 0);

	(void)state;
	begin();
	for (int i = 0; i < 8; i++) {
		struct mark m = mark(i * 50 * MS, 0);

		course_add(&course, &c, &m);
	}
	course_add(&course, &c, &late);
	assert_true(course_fits(&course, &c, &next));
	assert_int_equal(course_off(&course, &c), 0);
}

/* All frames of an interrupt are one mark. */
static void a_burst_is_one_mark(void **state)
{
	struct mark first = mark(0, 0), next = mark(50 * MS, 0);

	(void)state;
	begin();
	course_add(&course, &c, &first);
	for (int i = 0; i < 100; i++) {
		struct mark m = mark(20 * MS + i * 10000, -1500000);

		course_add(&course, &c, &m);
	}
	assert_int_equal(course.count, 2);
	assert_true(course_fits(&course, &c, &next));
}

static void a_step_does_not_fit(void **state)
{
	struct mark after = mark(1000 * MS, 10 * MS);

	(void)state;
	begin();
	assert_false(course_fits(&course, &c, &after));
	for (int i = 0; i < 20; i++) {
		struct mark m = mark(i * 50 * MS, 0);

		course_add(&course, &c, &m);
	}
	assert_false(course_fits(&course, &c, &after));
	after.distance_ns = -10 * MS;
	assert_false(course_fits(&course, &c, &after));
	after.distance_ns = MS / 2;
	assert_true(course_fits(&course, &c, &after));
	c.generation++; /* another setting of the clock: nothing is known of its course */
	assert_false(course_fits(&course, &c, &after));
}

/* Receptions before a step are as sure as they were. */
static void doubt_begins_at_the_step(void **state)
{
	(void)state;
	begin();
	clock_doubt(&c, 500 * MS, 300e3);
	assert_true(sqrt(clock_variance(&c, 499 * MS)) < 2e3);
	assert_true(sqrt(clock_variance(&c, 500 * MS)) > 299e3);
	clock_predict(&c, 250 * MS);
	clock_correct(&c, 0, 1e6);
	assert_true(sqrt(c.p00) < 2e3 && sqrt(clock_variance(&c, 500 * MS)) > 299e3);
	clock_predict(&c, 600 * MS);
	assert_true(sqrt(c.p00) > 299e3 && c.doubt == 0);
	clock_correct(&c, 7e3, 1e6);
	assert_true(fabs(c.off_ns + c.base_ns - 7e3) < 50 && sqrt(c.p00) < 2e3);
}

static void a_doubt_moves_with_own_time(void **state)
{
	(void)state;
	begin();
	clock_doubt(&c, 500 * MS, 300e3);
	clock_own_shifted(&c, SECOND_NS);
	assert_true(clock_variance(&c, SECOND_NS + 499 * MS) < 1e9);
	assert_true(clock_variance(&c, SECOND_NS + 500 * MS) > 1e9);
}

/* ---- bridges --------------------------------------------------------------------------------- */

/* Notes an epoch's frames, stamped by a clock that runs ahead by 40 ppm. */
static void note(struct bridge *b, int64_t from_ns, int64_t length_ns, int64_t late_ns)
{
	b->count = 0;
	for (int i = 0; i < 60; i++) {
		int64_t at = from_ns + i * length_ns / 60;

		bridge_note(b, at, at / 25000 + late_ns + (i % 7 - 3) * 100);
	}
}

static double error(struct bridge *b, int64_t at_ns)
{
	double variance;
	int64_t ahead;

	assert_true(bridge_ahead(b, at_ns, &ahead, &variance));
	bridge_follow(b, at_ns, ahead, variance);
	return (double)(ahead - at_ns / 25000);
}

/* One radio hears at the begin of each epoch, and the other one at its end. */
static void radios_hear_at_different_times(void **state)
{
	struct bridge one = { 0 }, other = { 0 };
	double off = 0;

	(void)state;
	for (int64_t epoch = 0; epoch < 40; epoch++) {
		int64_t from = epoch * 250 * MS, middle = from + 125 * MS;

		note(&one, from, 80 * MS, 0);
		note(&other, from + 170 * MS, 80 * MS, 0);
		off = error(&one, middle) - error(&other, middle);
	}
	assert_true(fabs(off) < 300); /* it would be 6.8 us */
}

/* A late interrupt has stamped most of an epoch's frames. */
static void a_late_epoch_does_not_bend_the_line(void **state)
{
	struct bridge b = { 0 };
	double slope;

	(void)state;
	for (int64_t epoch = 0; epoch < 30; epoch++) {
		note(&b, epoch * 250 * MS, 250 * MS, 0);
		error(&b, epoch * 250 * MS + 125 * MS);
	}
	slope = b.slope;
	assert_true(fabs(slope - 40e-6) < 1e-6);
	note(&b, 30 * 250 * MS, 250 * MS, MS);
	error(&b, 30 * 250 * MS + 125 * MS);
	assert_true(b.slope == slope);
}

/* Few frames, for long: what the line may be wrong by is in the variance. */
static void old_notes_are_less_sure(void **state)
{
	struct bridge b = { 0 };
	double soon, later;
	int64_t ahead;

	(void)state;
	note(&b, 0, 250 * MS, 0);
	assert_true(bridge_ahead(&b, 125 * MS, &ahead, &soon));
	assert_true(bridge_ahead(&b, 5 * SECOND_NS, &ahead, &later));
	assert_true(later > 100 * soon);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slew_fits),
		cmocka_unit_test(a_late_reference_is_not_the_course),
		cmocka_unit_test(a_burst_is_one_mark),
		cmocka_unit_test(a_step_does_not_fit),
		cmocka_unit_test(doubt_begins_at_the_step),
		cmocka_unit_test(a_doubt_moves_with_own_time),
		cmocka_unit_test(radios_hear_at_different_times),
		cmocka_unit_test(a_late_epoch_does_not_bend_the_line),
		cmocka_unit_test(old_notes_are_less_sure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
