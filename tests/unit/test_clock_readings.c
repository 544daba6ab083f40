// SPDX-License-Identifier: GPL-2.0
/* links: wire/clock_readings.o */
#include "unit.h"

#include "wire/bytes.h"
#include "wire/clock_readings.h"

static const struct clock_readings usual = {
	.count = 3,
	.list = { { 86400000000000, 1700000000000000000, -123456789 },
		  { 86400100000000, 1700000000000000000, -123456289 },
		  { 86400200000000, 1699999990000000000, -123455789 } },
};
static const struct clock_readings extremes = {
	.count = 4,
	.list = { { UINT64_MAX, INT64_MAX, INT64_MIN },
		  { 0, INT64_MIN, INT64_MAX },
		  { 1, 0, 0 },
		  { 1, 0, 0 } },
};

static void assert_readings(const struct clock_readings *got, const struct clock_readings *want)
{
	assert_int_equal(got->count, want->count);
	for (unsigned int i = 0; i < want->count; i++) {
		assert_true(got->list[i].monotonic_ns == want->list[i].monotonic_ns);
		assert_true(got->list[i].realtime_minus_monotonic_ns ==
			    want->list[i].realtime_minus_monotonic_ns);
		assert_true(got->list[i].raw_minus_monotonic_ns ==
			    want->list[i].raw_minus_monotonic_ns);
	}
}

/* Reads from a block of exactly its size, so that sanitizers see a read beyond it. */
static int read_copy(struct clock_readings *r, const uint8_t *in, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	int err;

	memcpy(copy, in, len);
	err = clock_readings_read(r, copy, len);
	free(copy);
	return err;
}

static void readings_come_back(void **state)
{
	const struct clock_readings *list[] = { &usual, &extremes };
	uint8_t bytes[CLOCK_READINGS_MAX * CLOCK_READING_WIRE_MAX];
	struct clock_readings got;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		size_t len = clock_readings_write(bytes, list[i]);

		assert_in_range(len, 1, list[i]->count * CLOCK_READING_WIRE_MAX);
		assert_int_equal(read_copy(&got, bytes, len), 0);
		assert_readings(&got, list[i]);
	}
}

static void later_readings_are_short(void **state)
{
	struct clock_readings one = usual;
	uint8_t bytes[CLOCK_READINGS_MAX * CLOCK_READING_WIRE_MAX];
	size_t len;

	(void)state;
	one.count = 1;
	len = clock_readings_write(bytes, &one);
	one.count = 2;
	assert_int_equal(clock_readings_write(bytes, &one) - len, 4 + 1 + 2);
}

static void incomplete_and_too_many_are_refused(void **state)
{
	uint8_t bytes[(CLOCK_READINGS_MAX + 1) * 3] = { 0 }, longer[12];
	struct clock_readings got;
	size_t len = clock_readings_write(bytes, &(struct clock_readings){ 1, { { 0 } } });

	(void)state;
	assert_int_equal(len, 3);
	for (size_t n = 0; n < len; n++)
		assert_int_equal(read_copy(&got, bytes, n), -EBADMSG);
	assert_int_equal(read_copy(&got, bytes, CLOCK_READINGS_MAX * 3), 0);
	assert_int_equal(got.count, CLOCK_READINGS_MAX);
	assert_int_equal(read_copy(&got, bytes, CLOCK_READINGS_MAX * 3 + 1), -EBADMSG);
	assert_int_equal(read_copy(&got, bytes, sizeof(bytes)), -EBADMSG);
	memset(longer, 0x80, sizeof(longer)); /* a number that never ends */
	assert_int_equal(read_copy(&got, longer, sizeof(longer)), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readings_come_back),
		cmocka_unit_test(later_readings_are_short),
		cmocka_unit_test(incomplete_and_too_many_are_refused),
	};

	return cmocka_run_group_tests_name("clock_readings", tests, NULL, NULL);
}
