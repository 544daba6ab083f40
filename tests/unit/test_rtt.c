// SPDX-License-Identifier: GPL-2.0
/*
 * links:
 *
 * The buckets of the histogram of round trips (bpf/modules/rtt/rtt.h).
 */
#include "unit.h"

#include "bpf/modules/rtt/rtt.h"

/* Every time is in the bucket that begins at or below it and ends above it. */
static void test_buckets(void **state)
{
	(void)state;
	assert_int_equal(rtt_bucket(0), 0);
	assert_int_equal(rtt_bucket(1023), 0);
	assert_int_equal(rtt_bucket(1024), 1);
	assert_int_equal(rtt_bucket(UINT64_MAX), RTT_BUCKETS - 1);
	assert_int_equal(rtt_bucket_ns(0), 0);
	for (uint32_t b = 0; b + 1 < RTT_BUCKETS; b++) {
		uint64_t from = rtt_bucket_ns(b), to = rtt_bucket_ns(b + 1);

		assert_true(from < to);
		assert_int_equal(rtt_bucket(from), b);
		assert_int_equal(rtt_bucket(to - 1), b);
		assert_true(!b || (to - from) * 8 <= from);
	}
	assert_int_equal(rtt_bucket_ns(RTT_BUCKETS - 1), 1ULL << RTT_OCTAVE_LAST);
}

static void test_log2(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 64; i++) {
		assert_int_equal(rtt_log2(1ULL << i), i);
		assert_int_equal(rtt_log2((1ULL << i) | ((1ULL << i) - 1)), i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_log2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
