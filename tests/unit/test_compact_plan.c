// SPDX-License-Identifier: GPL-2.0
/* links: keep/compact/plan.o */
/* Which files of a day are joined: in their order, of one schema, and never too many bytes. */
#include "unit.h"

#include "keep/compact/plan.h"

#define MOST 1000

/* Files of these sizes; each digit is its schema. Chosen ones are to be marked 'x'. */
static void assert_plan(const char *schemas, const off_t *bytes, const char *want)
{
	struct day_file files[16] = { { .name = NULL } };
	struct day d = { .list = files, .count = (unsigned int)strlen(schemas) };
	uint64_t sum = 0;

	for (unsigned int i = 0; i < d.count; i++) {
		files[i].schema = (uint64_t)schemas[i];
		files[i].st.st_size = bytes[i];
		files[i].is_chosen = true; /* of an earlier plan */
		sum += want[i] == 'x' ? (uint64_t)bytes[i] : 0;
	}
	assert_int_equal(plan(&d, MOST), sum);
	for (unsigned int i = 0; sum && i < d.count; i++)
		assert_int_equal(files[i].is_chosen, want[i] == 'x');
}

static void test_files_that_fit_are_joined(void **state)
{
	(void)state;
	assert_plan("111", (off_t[]){ 1, 2, 3 }, "xxx");
	assert_plan("11", (off_t[]){ 500, 500 }, "xx");
	assert_plan("1111", (off_t[]){ 400, 400, 400, 1 }, "xx--");
}

static void test_full_files_stay(void **state)
{
	(void)state;
	assert_plan("", NULL, "");
	assert_plan("1", (off_t[]){ 1 }, "-");
	assert_plan("11", (off_t[]){ 501, 500 }, "--");
	assert_plan("11", (off_t[]){ 5000, 1 }, "--");
	assert_plan("1111", (off_t[]){ 900, 600, 300, 100 }, "-xxx");
	assert_plan("111", (off_t[]){ 5000, 600, 300 }, "-xx");
}

static void test_schemas_are_apart(void **state)
{
	(void)state;
	assert_plan("12", (off_t[]){ 1, 1 }, "--");
	assert_plan("1221", (off_t[]){ 1, 2, 3, 4 }, "x--x");
	assert_plan("1222", (off_t[]){ 1, 2, 3, 4 }, "-xxx");
	assert_plan("121", (off_t[]){ 1, 5000, 1 }, "x-x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_that_fit_are_joined),
		cmocka_unit_test(test_full_files_stay),
		cmocka_unit_test(test_schemas_are_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
