// SPDX-License-Identifier: GPL-2.0
/* links: keep/extcap/names.o archive/index_build.o archive/index_lay.o archive/index_hash.o
 * archive/index_read.o archive/index_cursor.o
 */
#include "unit.h"

#include "archive/index_build.h"
#include "keep/extcap/names.h"

static struct index_build *build;

static void begin(void)
{
	build = index_build_new();
	assert_non_null(build);
	assert_int_equal(index_block(build, 0, false), 0);
}

static void sensor(const char *name, const char *group)
{
	int number = index_sensor(build, name, group, 1);

	assert_true(number >= 0);
	assert_int_equal(index_heard(build, number, 5), 0);
}

static int end(struct names *n)
{
	struct index_head head = { .pcapng_bytes = 100 };
	struct index x;
	uint8_t *bytes;
	size_t len;
	int err;

	assert_int_equal(index_finish(build, &head, &bytes, &len), 0);
	index_build_free(build);
	assert_int_equal(index_take(&x, bytes, len), 0);
	err = names_index(n, &x);
	index_close(&x);
	return err;
}

/* Each sensor is listed once, by name, with the group of the index that came first. */
static void test_sensors_of_two_indexes(void **state)
{
	struct names n = { 0 };

	(void)state;
	begin();
	sensor("two", "library");
	sensor("lib", "");
	assert_int_equal(end(&n), 0);
	begin();
	sensor("room-1", "hall");
	sensor("two", "hall");
	assert_int_equal(end(&n), 0);
	assert_int_equal(n.count, 3);
	assert_string_equal(n.list[0].name, "lib");
	assert_string_equal(n.list[0].group, "");
	assert_string_equal(n.list[1].name, "room-1");
	assert_string_equal(n.list[1].group, "hall");
	assert_string_equal(n.list[2].name, "two");
	assert_string_equal(n.list[2].group, "library");
	names_free(&n);
}

/* Such a name would end a value of the answer, or a word of a list. */
static void test_names_that_cannot_stand_in_an_answer(void **state)
{
	static const char *const bad[] = { "",	  "a}{b", "a\nvalue {arg=0}", "a,b", "@a",
					   "a b", "a=",	  "\xc2\x9b" };
	struct names n = { 0 };

	(void)state;
	begin();
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		sensor(bad[i], "");
	sensor("one", "a}{b");
	sensor("other", "A-b_c.9");
	assert_int_equal(end(&n), 0);
	assert_int_equal(n.count, 2);
	assert_string_equal(n.list[0].name, "one");
	assert_string_equal(n.list[0].group, "");
	assert_string_equal(n.list[1].group, "A-b_c.9");
	names_free(&n);
}

static void test_too_many(void **state)
{
	struct names n = { 0 };
	char name[16];

	(void)state;
	begin();
	for (int i = 0; i <= NAMES_MAX; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		sensor(name, "");
	}
	assert_int_equal(end(&n), -E2BIG);
	assert_int_equal(n.count, NAMES_MAX);
	for (unsigned int i = 1; i < n.count; i++)
		assert_true(strcmp(n.list[i - 1].name, n.list[i].name) < 0);
	names_free(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sensors_of_two_indexes),
		cmocka_unit_test(test_names_that_cannot_stand_in_an_answer),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
