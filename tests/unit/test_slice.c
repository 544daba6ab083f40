// SPDX-License-Identifier: GPL-2.0
/* links: merge/model/slice.o merge/input/left.o pcapng/block.o wire/channel.o common/log.o */
/* Each transmission is in one slice, whoever decides it. */
#include "unit.h"

#include "common/log.h"
#include "merge/input/left.h"

#define RADIOS 4

static struct slice s;
static struct input_sensor sensors[RADIOS];
static struct input_radio radios[RADIOS];
static struct sensors input = { .list = sensors, .radios = radios, .slice = &s };

static int begin(void **state)
{
	(void)state;
	log_settings.fd = -1; /* no line */
	s = (struct slice){ .reach = 1 };
	memset(sensors, 0, sizeof(sensors));
	for (uint32_t i = 0; i < RADIOS; i++)
		radios[i].sensor = i;
	return 0;
}

static bool near(int32_t floor)
{
	return slice_is_near(&s, (struct slice_floor){ true, floor });
}

static bool has(int32_t floor, uint16_t mhz)
{
	return slice_has(&s, (struct slice_floor){ true, floor }, mhz);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void a_slice_uses_the_sensors_of_near_floors(void **state)
{
	(void)state;
	assert_int_equal(slice_read_floors(&s, "-1,4"), 0);
	assert_true(near(-2) && near(-1) && near(0) && near(3) && near(4) && near(5));
	assert_true(!near(-3) && !near(1) && !near(2) && !near(6));
	s.reach = 2;
	assert_true(near(-3) && near(1) && near(2) && near(6) && !near(7));
	assert_true(slice_is_near(&s, (struct slice_floor){ false, 0 }));
}

/* Only they tell that no sensor with a floor has heard it. */
static void a_slice_without_a_floor_uses_all_sensors(void **state)
{
	(void)state;
	assert_int_equal(slice_read_floors(&s, "7,none"), 0);
	assert_true(near(7) && near(0) && near(-10000));
	assert_true(slice_has(&s, (struct slice_floor){ false, 0 }, 2412));
	assert_true(has(7, 2412) && !has(0, 2412));
}

static void a_slice_has_its_floors_and_channels(void **state)
{
	(void)state;
	assert_true(has(1, 2412) && has(-5, 0));
	assert_int_equal(slice_read_channels(&s, "1,2437,6g:5,none"), 0);
	assert_true(has(1, 2412) && has(1, 2437) && has(1, 5975) && has(1, 0) && !has(1, 2462));
	assert_true(near(99));
	assert_int_equal(slice_read_floors(&s, "1"), 0);
	assert_true(has(1, 2412) && !has(2, 2412) && !has(1, 2462));
	assert_false(slice_has(&s, (struct slice_floor){ false, 1 }, 2412));
}

static void wrong_lists_are_refused(void **state)
{
	static const char *const floors[] = {
		"",	  ",",	 "1,",
		"a",	  "1 2", "10001",
		"-10001", "0x1", "11111111111111111111111111111111111111111"
	};
	static const char *const channels[] = { "", "1,", "0", "300", "abc", "6g:", "36/81" };
	char many[4 * SLICE_MOST + 4] = "1";

	(void)state;
	for (size_t i = 0; i < sizeof(floors) / sizeof(*floors); i++)
		assert_int_equal(slice_read_floors(&s, floors[i]), -EINVAL);
	for (size_t i = 0; i < sizeof(channels) / sizeof(*channels); i++)
		assert_int_equal(slice_read_channels(&s, channels[i]), -EINVAL);
	for (int i = 1; i < SLICE_MOST; i++)
		strcat(many, ",1");
	assert_int_equal(slice_read_floors(&s, many), 0);
	strcat(many, ",1");
	assert_int_equal(slice_read_floors(&s, many), -EINVAL);
}

/* ---- transmissions --------------------------------------------------------------------------- */

/* The floor of a transmission that the sensors have heard with these signals; -99: none. */
static int32_t floor_of(const int8_t signals[RADIOS])
{
	struct heard heard[RADIOS];
	struct transmission t = { .first = heard };
	struct slice_floor f;

	for (uint32_t i = 0; i < RADIOS; i++)
		heard[i] = (struct heard){ .radio = i,
					   .signal = signals[i],
					   .next = i + 1 < RADIOS ? &heard[i + 1] : NULL };
	f = left_floor(&input, &t);
	return f.known ? f.floor : -99;
}

static void set_floors(int32_t a, int32_t b, int32_t c)
{
	sensors[0].floor = (struct slice_floor){ true, a };
	sensors[1].floor = (struct slice_floor){ true, b };
	sensors[2].floor = (struct slice_floor){ true, c };
}

static void the_strongest_reception_decides(void **state)
{
	(void)state;
	set_floors(3, 2, -1);
	assert_int_equal(floor_of((int8_t[]){ -50, -60, -70, -1 }), 3);
	assert_int_equal(floor_of((int8_t[]){ -70, -60, -70, -1 }), 2);
	assert_int_equal(floor_of((int8_t[]){ -70, -60, 10, -1 }), -1);
}

static void of_two_floors_the_lower_one_has_it(void **state)
{
	(void)state;
	set_floors(3, 2, 5);
	assert_int_equal(floor_of((int8_t[]){ -60, -60, -60, -1 }), 2);
	set_floors(5, 3, 2);
	assert_int_equal(floor_of((int8_t[]){ -60, -70, -60, -1 }), 2);
	set_floors(2, 3, 5);
	assert_int_equal(floor_of((int8_t[]){ -70, -60, -60, -1 }), 3);
}

static void a_reception_without_a_signal_is_the_weakest(void **state)
{
	(void)state;
	set_floors(1, 2, 3);
	assert_int_equal(floor_of((int8_t[]){ 0, -90, -95, 0 }), 2);
	assert_int_equal(floor_of((int8_t[]){ 0, 0, 0, -30 }), 1);
}

static void nobody_has_a_floor(void **state)
{
	(void)state;
	assert_int_equal(floor_of((int8_t[]){ -50, -60, -70, -40 }), -99);
}

/* ---- what the input says --------------------------------------------------------------------- */

static int32_t floor_in(const char *comment)
{
	int32_t floor;

	return pcapng_floor(comment, &floor) ? floor : -99;
}

static void a_comment_says_the_floor(void **state)
{
	(void)state;
	assert_int_equal(floor_in("saluki 5, keep all, floor=-2 x=1 y=2"), -2);
	assert_int_equal(floor_in("saluki 5, floor=12"), 12);
	assert_int_equal(floor_in("saluki 5, floor=12, group hall"), 12);
	assert_int_equal(floor_in("saluki 5, keep all, x=1, group hall"), -99);
	assert_int_equal(floor_in("saluki 5, keep all"), -99);
	assert_int_equal(floor_in(""), -99);
}

/* A sensor's own words come before the collector's. */
static void a_sensor_cannot_say_another_floor(void **state)
{
	(void)state;
	assert_int_equal(floor_in("x, floor=9, keep all, floor=2"), 2);
	assert_int_equal(floor_in("x, group hall, floor=9, keep all, floor=2 x=1, group hall"), 2);
	assert_int_equal(floor_in("x, floor=9, keep all, group hall"), -99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_slice_uses_the_sensors_of_near_floors, begin),
		cmocka_unit_test_setup(a_slice_without_a_floor_uses_all_sensors, begin),
		cmocka_unit_test_setup(a_slice_has_its_floors_and_channels, begin),
		cmocka_unit_test_setup(wrong_lists_are_refused, begin),
		cmocka_unit_test_setup(the_strongest_reception_decides, begin),
		cmocka_unit_test_setup(of_two_floors_the_lower_one_has_it, begin),
		cmocka_unit_test_setup(a_reception_without_a_signal_is_the_weakest, begin),
		cmocka_unit_test_setup(nobody_has_a_floor, begin),
		cmocka_unit_test_setup(a_comment_says_the_floor, begin),
		cmocka_unit_test_setup(a_sensor_cannot_say_another_floor, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
