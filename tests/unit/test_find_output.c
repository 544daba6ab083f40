// SPDX-License-Identifier: GPL-2.0
/* links: keep/find/output.o pcapng/build.o pcapng/block.o */
#include "unit.h"

#include <signal.h>
#include <unistd.h>

#include "keep/find/output.h"

static int ends[2];
static struct output *o;

static int begin(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	o = output_new(ends[1]);
	assert_non_null(o);
	return 0;
}

static int end(void **state)
{
	(void)state;
	output_free(o);
	close(ends[1]);
	return 0;
}

/* What was found is written at each tick. */
static void test_a_tick_writes_what_waits(void **state)
{
	uint8_t header[256];

	(void)state;
	assert_int_equal(output_tick(o), 0);
	assert_true(read(ends[0], header, sizeof(header)) >= 28);
	assert_memory_equal(header, "\x0a\x0d\x0d\x0a", 4);
	close(ends[0]);
}

static void test_a_reader_that_leaves_while_nothing_is_found(void **state)
{
	(void)state;
	assert_int_equal(output_tick(o), 0);
	assert_int_equal(output_tick(o), 0);
	close(ends[0]);
	assert_int_equal(output_tick(o), -EPIPE);
}

static void test_a_reader_that_leaves_before_the_begin(void **state)
{
	(void)state;
	close(ends[0]);
	assert_int_equal(output_tick(o), -EPIPE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_tick_writes_what_waits, begin, end),
		cmocka_unit_test_setup_teardown(test_a_reader_that_leaves_while_nothing_is_found,
						begin, end),
		cmocka_unit_test_setup_teardown(test_a_reader_that_leaves_before_the_begin, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
