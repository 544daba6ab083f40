// SPDX-License-Identifier: GPL-2.0
/* links: agent/capture/watermark.o */
#include "unit.h"

#include "agent/capture/watermark.h"

#define SECOND 1000000000ULL
#define YEARS (50 * 365 * 86400 * SECOND)

static uint64_t withheld;

static uint64_t fake_withheld(const struct source *s)
{
	(void)s;
	return withheld;
}

static const struct source_ops ops = { .withheld = fake_withheld };
static struct clock_offset offset;
static const struct source source = { .ops = &ops, .clock = &offset };
static struct watermark w;

static int begin(void **state)
{
	(void)state;
	w = (struct watermark){ 0 };
	offset.realtime_minus_monotonic_ns = YEARS;
	withheld = UINT64_MAX;
	return 0;
}

static void assert_mark(uint64_t frames, uint64_t before_ns)
{
	struct watermark_mark mark;

	watermark_read(&w, &mark);
	assert_int_equal(mark.frames, frames);
	assert_true(mark.before_ns == before_ns);
}

static void it_stays_behind_the_clock(void **state)
{
	(void)state;
	assert_mark(0, 0); /* not known */
	watermark_set(&w, &source, 5, 10 * SECOND);
	assert_mark(5, YEARS + 10 * SECOND - SOURCE_LATE_NS);
	watermark_set(&w, &source, 6, 11 * SECOND);
	assert_mark(6, YEARS + 11 * SECOND - SOURCE_LATE_NS);
}

/* The earlier mark, with fewer frames, stays true. */
static void a_late_frame_does_not_lower_it(void **state)
{
	(void)state;
	watermark_set(&w, &source, 5, 10 * SECOND);
	watermark_set(&w, &source, 7, 10 * SECOND - 1);
	assert_mark(5, YEARS + 10 * SECOND - SOURCE_LATE_NS);
}

static void withheld_frames_hold_it(void **state)
{
	(void)state;
	withheld = YEARS + 9 * SECOND;
	watermark_set(&w, &source, 5, 10 * SECOND);
	assert_mark(5, YEARS + 9 * SECOND);
	withheld = 0; /* unknown */
	watermark_set(&w, &source, 6, 11 * SECOND);
	assert_mark(5, YEARS + 9 * SECOND);
	withheld = UINT64_MAX;
	watermark_set(&w, &source, 7, 11 * SECOND);
	assert_mark(7, YEARS + 11 * SECOND - SOURCE_LATE_NS);
}

/* The stamps of later frames have the new difference, also if no frame is newer. */
static void it_follows_a_clock_that_is_set(void **state)
{
	(void)state;
	watermark_set(&w, &source, 5, 10 * SECOND);
	offset.realtime_minus_monotonic_ns -= 3600 * SECOND;
	watermark_set(&w, &source, 6, 10 * SECOND - 1);
	assert_mark(6, YEARS - 3590 * SECOND - SOURCE_LATE_NS);
	offset.realtime_minus_monotonic_ns += 7200 * SECOND;
	watermark_set(&w, &source, 9, 11 * SECOND);
	assert_mark(9, YEARS + 3611 * SECOND - SOURCE_LATE_NS);
}

static void a_machine_that_just_started_knows_nothing(void **state)
{
	(void)state;
	watermark_set(&w, &source, 5, SOURCE_LATE_NS / 2);
	assert_mark(5, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(it_stays_behind_the_clock, begin),
		cmocka_unit_test_setup(a_late_frame_does_not_lower_it, begin),
		cmocka_unit_test_setup(withheld_frames_hold_it, begin),
		cmocka_unit_test_setup(it_follows_a_clock_that_is_set, begin),
		cmocka_unit_test_setup(a_machine_that_just_started_knows_nothing, begin),
	};

	return cmocka_run_group_tests_name("watermark", tests, NULL, NULL);
}
