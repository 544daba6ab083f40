// SPDX-License-Identifier: GPL-2.0
/* links: merge/air/retained.o */
/* Transmissions are found by key, part, time and radio, for RETAINED_NS, and until there is no
 * room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "merge/air/retained.h"

#define KEY 7
#define PART 3
#define WINDOW 10000.0

static struct retained r;

static int setup(void **state)
{
	(void)state;
	return retained_init(&r);
}

static int teardown(void **state)
{
	(void)state;
	retained_free(&r);
	return 0;
}

/* Adds a transmission that the radios 0 to count - 1 have heard. */
static void add(uint64_t key, uint64_t number, int64_t at_ns, uint32_t count)
{
	static struct heard heard[5000];
	struct transmission t = { .key = key,
				  .part = PART,
				  .number = number,
				  .first = heard,
				  .middle = heard,
				  .count = count };

	for (uint32_t i = 0; i < count; i++)
		heard[i] = (struct heard){ .radio = i, .next = &heard[i + 1], .unified_ns = at_ns };
	assert_int_equal(retained_add(&r, &t, 0), 0);
}

static uint64_t find(uint64_t key, uint32_t radio, int64_t at_ns)
{
	const struct retained_entry *e = retained_find(&r, key, PART, radio, at_ns, WINDOW);

	return e ? e->number : 0;
}

static void the_nearest_is_found(void **state)
{
	(void)state;
	add(KEY, 1, 1000000, 3);
	add(KEY, 2, 1009000, 3);
	add(KEY + 1, 3, 1004000, 3);
	assert_int_equal(find(KEY, 9, 1004000), 1);
	assert_int_equal(find(KEY, 9, 1005000), 2);
	assert_int_equal(find(KEY, 9, 1019000), 2);
	assert_int_equal(find(KEY, 9, 1019001), 0);
	assert_int_equal(find(KEY + 2, 9, 1004000), 0);
	assert_null(retained_find(&r, KEY, PART + 1, 9, 1000000, WINDOW));
}

static void a_radio_hears_a_transmission_once(void **state)
{
	(void)state;
	add(KEY, 1, 1000000, 3);
	assert_int_equal(find(KEY, 2, 1000000), 0);
	assert_int_equal(find(KEY, 3, 1000000), 1);
	/* A late reception has an entry with the same number. */
	add(KEY, 1, 1000000, 4);
	assert_int_equal(find(KEY, 3, 1000000), 0);
	assert_int_equal(find(KEY, 4, 1000000), 1);
}

static void old_ones_are_forgotten(void **state)
{
	int64_t step = RETAINED_NS / 10000, last = 0;

	(void)state;
	for (uint64_t n = 1; n <= 40000; n++)
		add(n, n, last = (int64_t)n * step, 4);
	/* Memory is given back in chunks: some stay a little longer. */
	assert_int_equal(find(20000, 9, 20000 * step), 0);
	for (uint64_t n = 30000; n <= 40000; n++)
		assert_int_equal(find(n, 9, (int64_t)n * step), n);
	assert_true(r.end - r.oldest < 8 * RETAINED_CHUNK);
	assert_int_equal(r.evicted, 0);
}

static void without_room_the_oldest_go_first(void **state)
{
	const uint64_t many = 2 * (uint64_t)RETAINED_CHUNKS * RETAINED_CHUNK / 64;
	uint64_t first = 1;

	(void)state;
	for (uint64_t n = 1; n <= many; n++)
		add(n, n, (int64_t)n, 4);
	while (!find(first, 9, (int64_t)first))
		first++;
	assert_true(first > many / 4);
	assert_int_equal(r.evicted, first - 1);
	assert_int_equal(find(many, 9, (int64_t)many), many);
}

static void an_entry_of_many_radios(void **state)
{
	(void)state;
	add(KEY, 1, 1000000, 5000);
	add(KEY, 2, 2000000, 1);
	assert_int_equal(find(KEY, 4999, 1000000), 1); /* more are forgotten */
	assert_int_equal(find(KEY, 4095, 1000000), 0);
	assert_int_equal(find(KEY, 1, 2000000), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_nearest_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(a_radio_hears_a_transmission_once, setup, teardown),
		cmocka_unit_test_setup_teardown(old_ones_are_forgotten, setup, teardown),
		cmocka_unit_test_setup_teardown(without_room_the_oldest_go_first, setup, teardown),
		cmocka_unit_test_setup_teardown(an_entry_of_many_radios, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
