// SPDX-License-Identifier: GPL-2.0
/* The memory of requests: it holds exactly the last ones, and reports no others.
 *
 * links: collector/network/handshake_replays.o */
#include "unit.h"

#include <sodium.h>

#include "collector/network/handshake_replays.h"

#define ALL (3 * REPLAYS + 100)

static struct replays *r;
static uint8_t (*ids)[REPLAYS_ID_LEN];

static int begin(void **state)
{
	(void)state;
	r = calloc(1, sizeof(*r));
	ids = malloc(ALL * sizeof(*ids));
	randombytes_buf(ids, ALL * sizeof(*ids));
	replays_init(r);
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(r);
	free(ids);
	return 0;
}

static unsigned int count_of(unsigned int from, unsigned int to)
{
	unsigned int count = 0;

	for (unsigned int i = from; i < to; i++)
		count += replays_has(r, ids[i]);
	return count;
}

static void all_are_there_while_there_is_room(void **state)
{
	(void)state;
	assert_int_equal(count_of(0, ALL), 0);
	for (unsigned int i = 0; i < REPLAYS; i++)
		replays_add(r, ids[i]);
	assert_int_equal(count_of(0, REPLAYS), REPLAYS);
	assert_int_equal(count_of(REPLAYS, ALL), 0);
}

/* Each replaces the oldest, wherever that is in the table. */
static void the_last_ones_are_there(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ALL; i++) {
		replays_add(r, ids[i]);
		if (i < REPLAYS || (i % 997 && i != ALL - 1))
			continue;
		assert_int_equal(count_of(0, i - REPLAYS + 1), 0);
		assert_int_equal(count_of(i - REPLAYS + 1, i + 1), REPLAYS);
		assert_int_equal(count_of(i + 1, ALL), 0);
	}
}

/* Anyone with the collector's public key chooses the requests' numbers. */
static void numbers_that_begin_alike(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ALL; i++)
		memset(ids[i], 0, 8);
	for (unsigned int i = 0; i < REPLAYS; i++)
		replays_add(r, ids[i]);
	assert_int_equal(count_of(0, REPLAYS), REPLAYS);
	assert_int_equal(count_of(REPLAYS, ALL), 0);
}

static void it_is_as_large_as_it_says(void **state)
{
	(void)state;
	assert_in_range(sizeof(*r), 384 * 1024, 385 * 1024);
}

#define T(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(all_are_there_while_there_is_room),
		T(the_last_ones_are_there),
		T(numbers_that_begin_alike),
		T(it_is_as_large_as_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
