// SPDX-License-Identifier: GPL-2.0
/* links: keep/parquet/encode.o keep/compact/thrift_read.o common/buffer.o */
/* Encodings of Parquet, against the examples in their specifications and against slow decoders. */
#include "unit.h"

#include "keep/compact/thrift_read.h"
#include "keep/parquet/internal.h"

#define assert_bytes(b, ...)                                                                       \
	do {                                                                                       \
		static const uint8_t want[] = { __VA_ARGS__ };                                     \
		assert_int_equal((b)->len, sizeof(want));                                          \
		assert_memory_equal((b)->data, want, sizeof(want));                                \
		bytes_free(b);                                                                     \
	} while (0)

/* Encodings.md: the numbers 0 to 7 in 3 bits each. */
static void test_packed_values(void **state)
{
	const uint32_t v[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	const uint32_t flags[11] = { 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1 };
	struct bytes b = { 0 };

	(void)state;
	bytes_pack(&b, v, 8, 3);
	assert_bytes(&b, 0x88, 0xc6, 0xfa);
	bytes_pack(&b, v, 3, 3); /* filled up to 8 values */
	assert_bytes(&b, 0x88, 0, 0);
	bytes_pack(&b, v, 0, 3);
	assert_int_equal(b.len, 0);
	bytes_free(&b);
	bytes_pack(&b, flags, 11, 1);
	assert_bytes(&b, 0xa9, 0x04);
}

static uint32_t bits(const uint8_t *p, size_t from, int width)
{
	uint32_t v = 0;

	for (int i = 0; i < width; i++)
		v |= (uint32_t)(p[(from + (size_t)i) / 8] >> (from + (size_t)i) % 8 & 1) << i;
	return v;
}

static void test_random_values_of_all_widths(void **state)
{
	static uint32_t v[2000];

	(void)state;
	srand(3);
	for (int round = 0; round < 2000; round++) {
		int width = 1 + round % 32;
		size_t n = (size_t)rand() % 2001;
		struct bytes b = { 0 };

		for (size_t i = 0; i < n; i++)
			v[i] = ((uint32_t)rand() * 2654435761U) >> (32 - width);
		bytes_pack(&b, v, n, width);
		assert_int_equal(b.len, (n + 7) / 8 * (size_t)width);
		for (size_t i = 0; i < (n + 7) / 8 * 8; i++)
			assert_int_equal(bits(b.data, i * (size_t)width, width), i < n ? v[i] : 0);
		bytes_free(&b);
	}
}

/* thrift-compact-protocol.md: varints, zigzag, heads of fields and lists. */
static void test_thrift(void **state)
{
	struct bytes b = { 0 };
	struct thrift t = { &b, 0 };

	(void)state;
	bytes_varint(&b, 50399);
	assert_bytes(&b, 0xdf, 0x89, 0x03);
	thrift_int(&t, 1, THRIFT_I32, 0);
	thrift_int(&t, 3, THRIFT_I32, -1);
	thrift_int(&t, 4, THRIFT_I64, 1);
	thrift_int(&t, 5, THRIFT_I64, -2);
	thrift_int(&t, 6, THRIFT_I64, INT64_MIN);
	thrift_stop(&t);
	assert_bytes(&b, 0x15, 0, 0x25, 1, 0x16, 2, 0x16, 3, 0x16, 0xff, 0xff, 0xff, 0xff, 0xff,
		     0xff, 0xff, 0xff, 0xff, 1, 0);
	t.id = 0;
	thrift_field(&t, 1, THRIFT_TRUE);
	thrift_field(&t, 2, THRIFT_FALSE);
	thrift_text(&t, 3, "ab", 2);
	thrift_list(&t, 4, THRIFT_I32, 14);
	thrift_list(&t, 5, THRIFT_STRUCT, 15);
	assert_bytes(&b, 0x11, 0x12, 0x18, 2, 'a', 'b', 0x19, 0xe5, 0x19, 0xfc, 15);
}

static int64_t add_100(void *context, const int *path, int depth, int64_t v)
{
	(void)context;
	return depth == 3 && path[0] == 1 && path[2] == 20 ? v + 100 : v;
}

/* Field 20 in the structs of a list, with the long form of its head. */
static void test_copying_changes_named_fields_alone(void **state)
{
	static const uint8_t data[] = { 0x19, 0x2c, 0x06, 40, 2, 0x11, 0, 0x06,
					40,   4,    0x16, 8,  0, 0x16, 2, 0 };
	struct thrift_in in = { data, data + sizeof(data), false };
	struct bytes b = { 0 };

	(void)state;
	thrift_copy(&in, &b, THRIFT_STRUCT, add_100, NULL);
	assert_false(in.bad);
	assert_ptr_equal(in.at, in.end);
	assert_bytes(&b, 0x19, 0x2c, 0x06, 40, 0xca, 1, 0x11, 0, 0x06, 40, 0xcc, 1, 0x16, 8, 0,
		     0x16, 2, 0);
	for (size_t len = 0; len < sizeof(data); len++) {
		in = (struct thrift_in){ data, data + len, false };
		thrift_copy(&in, NULL, THRIFT_STRUCT, NULL, NULL);
		assert_true(in.bad);
	}
}

static void test_deep_structs_are_bad(void **state)
{
	uint8_t data[100000];
	struct thrift_in in = { data, data + sizeof(data), false };

	(void)state;
	memset(data, 0x1c, sizeof(data));
	thrift_copy(&in, NULL, THRIFT_STRUCT, NULL, NULL);
	assert_true(in.bad);
	memset(data, 0x19, sizeof(data));
	in = (struct thrift_in){ data, data + sizeof(data), false };
	thrift_copy(&in, NULL, THRIFT_LIST, NULL, NULL);
	assert_true(in.bad);
}

static void assert_text(const char *in, const char *want)
{
	struct bytes b = { 0 };

	text_put(&b, in, strlen(in));
	assert_int_equal(b.len, strlen(want));
	assert_memory_equal(b.data, want, b.len);
	bytes_free(&b);
}

static void test_texts(void **state)
{
	struct bytes b = { 0 };

	(void)state;
	assert_text("Caf\303\251 \342\202\254 \360\237\230\200 ~",
		    "Caf\303\251 \342\202\254 \360\237\230\200 ~");
	assert_text("\\x5c", "\\x5cx5c");
	assert_text("a\tb\177\033", "a\\x09b\\x7f\\x1b");
	assert_text("\302\237\302\240", "\\xc2\\x9f\302\240");
	assert_text("\300\200", "\\xc0\\x80");			 /* overlong */
	assert_text("\340\237\277", "\\xe0\\x9f\\xbf");		 /* overlong */
	assert_text("\360\217\277\277", "\\xf0\\x8f\\xbf\\xbf"); /* overlong */
	assert_text("\355\240\200", "\\xed\\xa0\\x80");		 /* a surrogate */
	assert_text("\355\237\277", "\355\237\277");
	assert_text("\364\220\200\200", "\\xf4\\x90\\x80\\x80"); /* above U+10FFFF */
	assert_text("\364\217\277\277", "\364\217\277\277");
	assert_text("\365\200\200\200", "\\xf5\\x80\\x80\\x80");
	assert_text("\342\202x\342\202", "\\xe2\\x82x\\xe2\\x82"); /* cut off */
	text_put(&b, "\0", 1);
	assert_bytes(&b, '\\', 'x', '0', '0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packed_values),
		cmocka_unit_test(test_random_values_of_all_widths),
		cmocka_unit_test(test_thrift),
		cmocka_unit_test(test_copying_changes_named_fields_alone),
		cmocka_unit_test(test_deep_structs_are_bad),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
