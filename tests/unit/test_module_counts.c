// SPDX-License-Identifier: GPL-2.0
/* links: collector/model/module_counts.o */
/* Events per module: a sensor cannot use more than its memory. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "collector/model/module_counts.h"

static void test_counts(void **state)
{
	struct module_counts *c = NULL;

	(void)state;
	module_counts_add(&c, "worms", 5);
	module_counts_add(&c, "rtt", 6);
	module_counts_add(&c, "worms", 7);
	assert_int_equal(c->count, 2);
	assert_string_equal(c->of[0].name, "worms");
	assert_true(c->of[0].events == 2 && c->of[0].last_ns == 7);
	assert_true(c->of[1].events == 1 && c->of[1].last_ns == 6);
	free(c);
}

static void test_more_names_than_room(void **state)
{
	struct module_counts *c = NULL;
	char name[16];

	(void)state;
	for (int i = 0; i < 3 * MODULE_COUNTS_MAX; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		module_counts_add(&c, name, i + 1);
	}
	module_counts_add(&c, "m0", 1000);
	assert_int_equal(c->count, MODULE_COUNTS_MAX);
	assert_true(c->others == 2 * MODULE_COUNTS_MAX && c->of[0].events == 2);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_more_names_than_room),
	};

	return cmocka_run_group_tests_name("module_counts", tests, NULL, NULL);
}
