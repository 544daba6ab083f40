// SPDX-License-Identifier: GPL-2.0
/* links: agent/compress.o collector/decompress.o wire/combo.o wire/forms.o */
#include "unit.h"

#include "agent/compress.h"
#include "collector/decompress.h"

static uint8_t body[COMBO_BODY_MAX], out[COMBO_HEADER_LEN + COMBO_CODEC_LEN + COMBO_BODY_MAX];
static struct decompress d;

static void fill(int noise)
{
	srand(1);
	for (size_t i = 0; i < sizeof(body); i++)
		body[i] = noise ? rand() : (int)(i / 100 % 17);
}

/* Compresses `len` bytes at a level (99: none) and takes them apart again. */
static size_t there_and_back(int level, size_t len)
{
	struct compress c = { 0 };
	struct combo_header h = { .frames = 1, .body_len = len };
	size_t n;

	if (level != 99)
		assert_int_equal(compress_init(&c, level, COMBO_SIZE_DEFAULT), 0);
	for (int twice = 0; twice < 2; twice++) { /* a context is used again and again */
		const uint8_t *back;

		n = compress_combo(&c, out + COMBO_HEADER_LEN, body, len);
		h.codec = out[COMBO_HEADER_LEN];
		back = decompress_combo(&d, &h, out, COMBO_HEADER_LEN + n);
		assert_non_null(back);
		assert_memory_equal(back, body, len);
	}
	assert_true(n <= COMBO_CODEC_LEN + len);
	compress_free(&c);
	return n;
}

static void every_level_and_length(void **state)
{
	static const size_t lengths[] = { 0, 1, 100, COMBO_SIZE_DEFAULT, COMBO_BODY_MAX };

	(void)state;
	for (int noise = 0; noise < 2; noise++) {
		fill(noise);
		for (int level = COMPRESS_LEVEL_MIN; level <= COMPRESS_LEVEL_MAX; level++)
			for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
				there_and_back(level, lengths[i]);
		there_and_back(99, COMBO_SIZE_DEFAULT);
	}
}

static void noise_is_stored_and_order_is_not(void **state)
{
	(void)state;
	fill(1);
	assert_int_equal(there_and_back(1, COMBO_SIZE_DEFAULT), 1 + COMBO_SIZE_DEFAULT);
	fill(0);
	assert_true(there_and_back(1, COMBO_SIZE_DEFAULT) < COMBO_SIZE_DEFAULT / 10);
}

static void another_size_than_stated_is_refused(void **state)
{
	struct compress c;
	struct combo_header h = { .frames = 1, .codec = COMBO_ZSTD };
	size_t n;

	(void)state;
	fill(0);
	assert_int_equal(compress_init(&c, 1, COMBO_SIZE_DEFAULT), 0);
	n = compress_combo(&c, out + COMBO_HEADER_LEN, body, 5000);
	h.body_len = 4999;
	assert_null(decompress_combo(&d, &h, out, COMBO_HEADER_LEN + n));
	h.body_len = 5001;
	assert_null(decompress_combo(&d, &h, out, COMBO_HEADER_LEN + n));
	h.body_len = 5000;
	for (size_t cut = COMBO_CODEC_LEN; cut < n; cut++)
		assert_null(decompress_combo(&d, &h, out, COMBO_HEADER_LEN + cut));
	assert_non_null(decompress_combo(&d, &h, out, COMBO_HEADER_LEN + n));
	compress_free(&c);
}

static int setup(void **state)
{
	(void)state;
	return decompress_init(&d);
}

static int teardown(void **state)
{
	(void)state;
	decompress_free(&d);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_level_and_length),
		cmocka_unit_test(noise_is_stored_and_order_is_not),
		cmocka_unit_test(another_size_than_stated_is_refused),
	};

	return cmocka_run_group_tests_name("compress", tests, setup, teardown);
}
