// SPDX-License-Identifier: GPL-2.0
/* links: */
#include "unit.h"

#include "wire/bytes.h"

static const uint64_t values[] = {
	0, 1, 127, 128, 16383, 16384, UINT32_MAX, 1ULL << 63, UINT64_MAX
};

static void varints_come_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		uint8_t buffer[VARINT_MAX];
		size_t n = store_varint(buffer, values[i]);
		const uint8_t *p = buffer;
		uint64_t v = 0;

		assert_true(n <= VARINT_MAX);
		assert_int_equal(load_varint(&p, buffer + n, &v), 0);
		assert_true(v == values[i] && p == buffer + n);
		p = buffer;
		assert_int_equal(load_varint(&p, buffer + n - 1, &v), -1); /* truncated */
	}
}

static void a_varint_beyond_64_bits_is_refused(void **state)
{
	uint8_t eleven[11] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1 };
	uint8_t large[10] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2 };
	const uint8_t *p = eleven;
	uint64_t v;

	(void)state;
	assert_int_equal(load_varint(&p, eleven + 11, &v), -1);
	p = large;
	assert_int_equal(load_varint(&p, large + 10, &v), -1);
}

static void zigzag_keeps_small_differences_small(void **state)
{
	(void)state;
	assert_int_equal(zigzag(0), 0);
	assert_int_equal(zigzag(-1), 1);
	assert_int_equal(zigzag(1), 2);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		assert_true(unzigzag(zigzag((int64_t)values[i])) == (int64_t)values[i]);
}

static void network_order(void **state)
{
	uint8_t b[8];

	(void)state;
	store_be(b, 0x0102030405060708ULL, 8);
	assert_memory_equal(b, "\1\2\3\4\5\6\7\10", 8);
	assert_true(load_be(b, 3) == 0x010203);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(varints_come_back),
		cmocka_unit_test(a_varint_beyond_64_bits_is_refused),
		cmocka_unit_test(zigzag_keeps_small_differences_small),
		cmocka_unit_test(network_order),
	};

	return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
