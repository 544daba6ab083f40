// SPDX-License-Identifier: GPL-2.0
/* links: collector/model/coverage.o wire/dwell.o wire/channel.o */
#include "unit.h"

#include <errno.h>

#include "collector/model/coverage.h"

#define SECOND 1000000000ULL
#define BEGIN (1700000000 * SECOND)

static struct coverage *coverage;

static int end(void **state)
{
	(void)state;
	coverage_free(&coverage);
	assert_null(coverage);
	return 0;
}

static struct dwell dwell_of(uint16_t mhz, uint64_t from_ns, uint64_t ns)
{
	return (struct dwell){ .mhz = mhz,
			       .width = 20,
			       .center = mhz,
			       .from_ns = BEGIN + from_ns,
			       .to_ns = BEGIN + from_ns + ns,
			       .frames = 10,
			       .marked = 1,
			       .switch_ns = 2000 };
}

static void add(struct dwell d)
{
	coverage_add(&coverage, &d);
}

static void dwells_are_summed_by_channel(void **state)
{
	const struct coverage_interface *i;
	struct dwell failed = dwell_of(5180, 3 * SECOND, 0), other;

	(void)state;
	assert_null(coverage_of(NULL, 0));
	for (int n = 0; n < 3; n++)
		add(dwell_of(n == 1 ? 2437 : 2412, n * SECOND, SECOND));
	failed.frames = 0;
	failed.error = EINVAL;
	add(failed);
	other = dwell_of(2412, 0, SECOND); /* of another interface, and wider */
	other.interface = 7;
	other.width = 40;
	add(other);
	i = coverage_of(coverage, 0);
	assert_int_equal(i->count, 3);
	assert_true(i->from_ns == BEGIN && i->to_ns == BEGIN + 3 * SECOND);
	assert_int_equal(i->list[0].channel.mhz, 2412);
	assert_int_equal(i->list[0].dwells, 2);
	assert_int_equal(i->list[0].listened_ns, 2 * SECOND);
	assert_int_equal(i->list[0].frames, 20);
	assert_int_equal(i->list[0].marked, 2);
	assert_int_equal(i->list[0].switch_ns, 4000);
	assert_int_equal(i->list[1].dwells, 1);
	assert_int_equal(i->list[2].failures, 1);
	assert_int_equal(i->list[2].dwells, 0);
	assert_int_equal(coverage_of(coverage, 7)->count, 1);
	assert_null(coverage_of(coverage, 1));
	assert_null(coverage_of(coverage, INFO_INTERFACES_MAX));
}

/* A part has no switch and begins at the end of the part before. */
static void parts_are_one_dwell(void **state)
{
	struct dwell part = dwell_of(2412, 5 * SECOND, 5 * SECOND);

	(void)state;
	add(dwell_of(2412, 0, 5 * SECOND));
	part.switch_ns = 0;
	add(part);
	assert_int_equal(coverage->of[0].list[0].dwells, 1);
	part = dwell_of(2412, 11 * SECOND, SECOND); /* a second is missing */
	part.switch_ns = 0;
	add(part);
	assert_int_equal(coverage->of[0].list[0].dwells, 2);
	part = dwell_of(2437, 12 * SECOND, SECOND);
	part.switch_ns = 0;
	add(part);
	assert_int_equal(coverage->of[0].list[1].dwells, 1);
	assert_int_equal(coverage->of[0].list[0].listened_ns, 11 * SECOND);
	/* Nor is a dwell part of a failed switch: the radio was there already. */
	part = dwell_of(2462, 13 * SECOND, 0);
	part.error = 16;
	add(part);
	part = dwell_of(2462, 13 * SECOND, SECOND);
	part.switch_ns = 0;
	add(part);
	assert_int_equal(coverage->of[0].list[2].dwells, 1);
	assert_int_equal(coverage->of[0].list[2].failures, 1);
}

static void memory_is_bounded(void **state)
{
	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint16_t n = 0; n < 3 * COVERAGE_CHANNELS_MAX; n++)
			add(dwell_of(1 + n, n * SECOND, SECOND));
	assert_int_equal(coverage->of[0].count, COVERAGE_CHANNELS_MAX);
	assert_int_equal(coverage->of[0].room, COVERAGE_CHANNELS_MAX);
	assert_int_equal(coverage->of[0].others, 4 * COVERAGE_CHANNELS_MAX);
	assert_int_equal(coverage->of[0].list[5].dwells, 2);
}

static const char *told(void (*tell)(FILE *f))
{
	static char text[4096];
	FILE *f = fmemopen(text, sizeof(text), "w");

	assert_non_null(f);
	tell(f);
	fclose(f);
	return text;
}

static void print(FILE *f)
{
	coverage_print(f, "lib mon0: ", coverage_of(coverage, 0));
}

static void what_is_told(void **state)
{
	struct dwell failed = dwell_of(5975, 60 * SECOND, 0);

	(void)state;
	for (int n = 0; n < 60; n++) {
		struct dwell d = dwell_of(n % 3 ? 2462 : 2437, n * SECOND, SECOND);

		d.marked = 0;
		add(d);
	}
	failed.error = EINVAL;
	failed.frames = 0;
	add(failed);
	assert_string_equal(
		told(print),
		"lib mon0: channel 6: 33.3 % of 60.0 s, 200 frames, 20 dwells\n"
		"lib mon0: channel 11: 66.7 % of 60.0 s, 400 frames, 40 dwells\n"
		"lib mon0: channel 6g:5: 0.0 % of 60.0 s, 0 frames, 0 dwells, 1 marked, "
		"1 failures\n");
}

/* A clock set forward by hours and years, and back: the report covers the time that passed, also
 * after days without a dwell. */
static void a_clock_that_is_set_is_no_time(void **state)
{
	static const uint64_t steps[] = { 0, 6 * 3600 * SECOND, 1000 * 86400 * SECOND,
					  3600 * SECOND };
	const uint64_t days = 2 * 86400 * SECOND;
	const struct coverage_interface *i;
	struct dwell d;

	(void)state;
	for (int n = 0; n < 8; n++) {
		d = dwell_of(n % 2 ? 2437 : 2412, steps[n / 2] + n * SECOND, SECOND);
		d.up_ns = (5 + n) * SECOND;
		add(d);
	}
	i = coverage_of(coverage, 0);
	assert_true(i->from_ns == BEGIN && i->to_ns == BEGIN + steps[2] + 6 * SECOND);
	assert_non_null(strstr(told(print), "channel 1: 50.0 % of 8.0 s, "));
	d = dwell_of(2412, steps[3] + days, days - 8 * SECOND);
	d.up_ns = 5 * SECOND + days;
	add(d);
	assert_non_null(strstr(told(print), "channel 1: 50.0 % of 345592.0 s, "));
}

/* Parts reported around a clock change are one dwell: the monotonic clock joins them. */
static void parts_join_by_the_clock_that_nobody_sets(void **state)
{
	(void)state;
	for (int n = 0; n < 4; n++) {
		struct dwell d = dwell_of(2412, (n / 2 * 3600 + 5 * n) * SECOND, 5 * SECOND + 900);

		d.up_ns = (60 + 5 * n) * SECOND;
		d.switch_ns = 0;
		add(d);
	}
	assert_int_equal(coverage->of[0].list[0].dwells, 1);
}

/* A sensor's dwells do not overlap. */
static void who_overlaps_has_heard_no_more_than_all(void **state)
{
	(void)state;
	for (int n = 0; n < 3; n++)
		add(dwell_of(2412, 0, SECOND));
	assert_non_null(strstr(told(print), "channel 1: 100.0 % of 1.0 s, "));
}

/* All channels, with the largest numbers. */
static void what_is_printed_has_room(void **state)
{
	static char text[COVERAGE_TEXT_MAX];
	FILE *f = fmemopen(text, sizeof(text), "w");

	(void)state;
	for (unsigned int n = 0; n <= COVERAGE_CHANNELS_MAX; n++) {
		struct dwell d = dwell_of(UINT16_MAX - n, 0, 0);

		d.width = d.center = UINT16_MAX;
		d.from_ns = 0;
		d.to_ns = d.frames = d.marked = UINT64_MAX;
		add(d);
		d.frames = d.marked = 0;
		d.to_ns = 0;
		d.error = EINVAL;
		add(d);
	}
	for (unsigned int n = 0; n < COVERAGE_CHANNELS_MAX; n++)
		coverage->of[0].list[n].failures = coverage->of[0].list[n].dwells = UINT64_MAX;
	coverage->of[0].others = UINT64_MAX;
	coverage_print(f, "", coverage_of(coverage, 0));
	assert_int_equal(fclose(f), 0);
	assert_non_null(strstr(text, "other channels: 18446744073709551615 dwells\n"));
	assert_int_equal(coverage->of[0].count, COVERAGE_CHANNELS_MAX);
}

/* Sums may wrap and time may stand still: the report is still written. */
static void what_cannot_be(void **state)
{
	struct dwell d = dwell_of(UINT16_MAX, 0, 0);

	(void)state;
	d.width = d.center = UINT16_MAX;
	d.from_ns = 0;
	d.to_ns = d.frames = d.marked = d.switch_ns = UINT64_MAX;
	add(d);
	add(d);
	d.to_ns = 0;
	add(d);
	assert_true(strlen(told(print)) > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_teardown(f, end)
		T(dwells_are_summed_by_channel),
		T(parts_are_one_dwell),
		T(memory_is_bounded),
		T(what_is_told),
		T(a_clock_that_is_set_is_no_time),
		T(parts_join_by_the_clock_that_nobody_sets),
		T(who_overlaps_has_heard_no_more_than_all),
		T(what_is_printed_has_room),
		T(what_cannot_be),
	};

	return cmocka_run_group_tests_name("coverage", tests, NULL, NULL);
}
