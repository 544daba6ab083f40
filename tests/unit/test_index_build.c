// SPDX-License-Identifier: GPL-2.0
/* links: archive/index_build.o archive/index_lay.o archive/index_hash.o archive/index_read.o
 * archive/index_cursor.o */
#include "unit.h"

#include "archive/index_build.h"
#include "archive/index_read.h"

static struct index_build *build;
static struct index laid;

static int begin(void **state)
{
	(void)state;
	build = index_build_new();
	assert_non_null(build);
	assert_int_equal(index_block(build, 0, false), 0);
	return 0;
}

static void finish(void)
{
	struct index_head head = { .pcapng_bytes = 100 };
	uint8_t *bytes;
	size_t len;

	assert_int_equal(index_finish(build, &head, &bytes, &len), 0);
	assert_int_equal(index_take(&laid, bytes, len), 0);
}

static int end(void **state)
{
	(void)state;
	index_close(&laid);
	index_build_free(build);
	return 0;
}

/* The first description tells the id. */
static void test_a_sensor_is_its_name_and_group(void **state)
{
	static const char *const names[] = { "two", "one", "three", "two" };
	static const char *const groups[] = { "hall", "", "", "" };
	struct index_cursor c, heard;
	struct index_sensor s;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(index_sensor(build, names[i], groups[i], 10 + i), i);
	for (int i = 0; i < 4; i++)
		assert_int_equal(index_sensor(build, names[i], groups[i], 20), i);
	finish();
	c = index_sensors(&laid);
	for (int i = 0; i < 4; i++) {
		assert_true(index_sensor_next(&c, &s, &heard));
		assert_string_equal(s.name, names[i]);
		assert_string_equal(s.group, groups[i]);
		assert_int_equal(s.id, 10 + i);
	}
	assert_false(index_sensor_next(&c, &s, &heard));
}

static void combo(uint16_t sensor, uint64_t run, uint64_t next, uint64_t accounted)
{
	const struct index_run r = {
		.sensor = sensor, .run = run, .next = next, .accounted = accounted
	};

	assert_int_equal(index_combo(build, &r), 0);
}

static void expect_run(struct index_cursor *c, uint16_t sensor, uint64_t run, uint64_t next,
		       uint64_t accounted)
{
	struct index_run r;

	assert_true(index_run_next(c, &r));
	assert_int_equal(r.sensor, sensor);
	assert_int_equal(r.run, run);
	assert_int_equal(r.next, next);
	assert_int_equal(r.accounted, accounted);
}

/* Combos of an earlier run can come late, and two sensors can have runs of one number. */
static void test_a_run_is_its_sensor_and_number(void **state)
{
	struct index_cursor c;
	struct index_run r;

	(void)state;
	combo(1, UINT64_MAX, 1, 40);
	combo(2, 7, 1, 10);
	combo(1, 7, 1, 5);
	combo(1, UINT64_MAX, 2, 80);
	combo(1, 3, 1, 1);
	combo(1, 7, 4, 4);
	combo(2, 7, 1, 20);
	combo(1, UINT64_MAX, 1, 40);
	finish();
	c = index_runs(&laid);
	expect_run(&c, 1, UINT64_MAX, 2, 80);
	expect_run(&c, 2, 7, 1, 20);
	expect_run(&c, 1, 7, 4, 5);
	expect_run(&c, 1, 3, 1, 1);
	assert_false(index_run_next(&c, &r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_sensor_is_its_name_and_group, begin, end),
		cmocka_unit_test_setup_teardown(test_a_run_is_its_sensor_and_number, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
