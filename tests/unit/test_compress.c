// SPDX-License-Identifier: GPL-2.0
/* links: wire/compress.o collector/combo/decompress.o wire/combo.o wire/columns.o
 * wire/dot11_templates.o wire/wired_templates.o wire/wired_append.o wire/tails.o
 * wire/wired_next.o wire/dictionary.o wire/fields.o wire/combo_open.o */
#include "unit.h"
#include "wire/compress.h"

#include "collector/combo/decompress.h"

static uint8_t body[COMBO_BODY_MAX], out[COMBO_HEADER_LEN + COMBO_CODEC_LEN + COMBO_BODY_MAX];
static struct decompress d;
static uint8_t room[COMBO_BODY_MAX];

static void fill(int noise)
{
	srand(1);
	for (size_t i = 0; i < sizeof(body); i++)
		body[i] = noise ? rand() : (int)(i / 100 % 17);
}

/* Compresses `len` bytes at a level (99: none) and decompresses them. */
static size_t there_and_back(int level, size_t len)
{
	struct compress c = { 0 };
	struct combo_header h = { .frames = 1, .body_len = len };
	size_t n;

	if (level != 99)
		assert_int_equal(compress_init(&c, level, COMBO_SIZE_DEFAULT), 0);
	for (int twice = 0; twice < 2; twice++) { /* a context is reused many times */
		const uint8_t *back;

		n = compress_combo(&c, out + COMBO_HEADER_LEN, body, len, 0);
		h.codec = out[COMBO_HEADER_LEN];
		back = decompress_combo(&d, &h, out, COMBO_HEADER_LEN + n, room);
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
	n = compress_combo(&c, out + COMBO_HEADER_LEN, body, 5000, 0);
	h.body_len = 4999;
	assert_null(decompress_combo(&d, &h, out, COMBO_HEADER_LEN + n, room));
	h.body_len = 5001;
	assert_null(decompress_combo(&d, &h, out, COMBO_HEADER_LEN + n, room));
	h.body_len = 5000;
	for (size_t cut = COMBO_CODEC_LEN; cut < n; cut++)
		assert_null(decompress_combo(&d, &h, out, COMBO_HEADER_LEN + cut, room));
	assert_non_null(decompress_combo(&d, &h, out, COMBO_HEADER_LEN + n, room));
	compress_free(&c);
}

#define FEW 60	  /* frames for which the dictionary pays */
#define MANY 1500 /* frames that are too many for it */

/* A combo of probe requests, each of another station. Returns the body's length. */
static size_t fill_dot11(int frames)
{
	static const char request[] = "\x40\0\0\0\xff\xff\xff\xff\xff\xff\2\1\2\3\4\5\xff\xff\xff"
				      "\xff\xff\xff\x30\0\0\0\1\4\2\4\x0b\x16\x32\x08\x0c\x12\x18"
				      "\x24\x30\x48\x60\x6c\3\1\1";
	uint8_t frame[26 + sizeof(request) - 1] = { 0,	  0, 26,   0,	 0x2f, 0x48, 0, 0, 1,
						    2,	  3, 4,	   0,	 0,    0,    0, 0, 2,
						    0x6c, 9, 0xa0, 0x00, 0xd8, 1,    0, 0 };
	struct combo_frame f = { .linktype = 127, .data = frame };
	struct combo c;
	size_t len;

	memcpy(frame + 26, request, sizeof(request) - 1);
	f.kept_len = f.orig_len = sizeof(frame);
	assert_int_equal(combo_init(&c, COMBO_SIZE_DEFAULT, 192), 0);
	for (int i = 0; i < frames; i++) {
		f.time_ns = 1700000000000000000ULL + i * 1234567;
		frame[26 + 15] = i; /* another station */
		combo_append(&c, &f);
	}
	combo_close(&c);
	len = c.body_len;
	memcpy(body, c.body, len);
	combo_free(&c);
	return len;
}

static void small_combos_of_80211_have_the_dictionary(void **state)
{
	struct combo_header h = { .frames = 1, .codec = COMBO_ZSTD };
	const uint8_t *back;
	size_t len, n;

	(void)state;
	len = fill_dot11(FEW);
	for (int level = COMPRESS_LEVEL_MIN; level <= COMPRESS_LEVEL_MAX; level++) {
		n = there_and_back(level, len);
		assert_int_equal(out[COMBO_HEADER_LEN], COMBO_ZSTD_DOT11);
	}
	/* Without the dictionary, the same bytes are no combo or another one. */
	h.body_len = len;
	back = decompress_combo(&d, &h, out, COMBO_HEADER_LEN + n, room);
	assert_true(!back || memcmp(back, body, len));
	len = fill_dot11(1);
	n = there_and_back(1, len);
	assert_int_equal(out[COMBO_HEADER_LEN], COMBO_ZSTD_DOT11);
	assert_true(n < len * 3 / 4);
	len = fill_dot11(MANY);
	assert_true(len > 8192);
	there_and_back(1, len);
	assert_int_equal(out[COMBO_HEADER_LEN], COMBO_ZSTD);
}

/* A body of one 802.11 frame of random bytes. */
static size_t fill_noise_dot11(void)
{
	uint8_t frame[150] = { 0x08, 0x41 };
	struct combo_frame f = { .linktype = 105, .data = frame, .kept_len = 150, .orig_len = 150 };
	struct combo c;
	size_t len;

	for (size_t i = 2; i < sizeof(frame); i++)
		frame[i] = rand();
	assert_int_equal(combo_init(&c, COMBO_SIZE_DEFAULT, 192), 0);
	combo_append(&c, &f);
	combo_close(&c);
	len = c.body_len;
	memcpy(body, c.body, len);
	combo_free(&c);
	return len;
}

static void compress_and_check(struct compress *c, size_t len, uint8_t codec)
{
	struct combo_header h = { .frames = 1, .body_len = len };
	size_t n = compress_combo(c, out + COMBO_HEADER_LEN, body, len, 0);
	const uint8_t *back;

	h.codec = out[COMBO_HEADER_LEN];
	assert_int_equal(h.codec, codec);
	back = decompress_combo(&d, &h, out, COMBO_HEADER_LEN + n, room);
	assert_non_null(back);
	assert_memory_equal(back, body, len);
}

/* A stored body must not affect the next use of the same context. */
static void stored_ones_between_others(void **state)
{
	struct compress c;

	(void)state;
	for (int level = COMPRESS_LEVEL_MIN; level <= COMPRESS_LEVEL_MAX; level++) {
		assert_int_equal(compress_init(&c, level, COMBO_SIZE_DEFAULT), 0);
		for (int i = 0; i < 3; i++) {
			compress_and_check(&c, fill_noise_dot11(), COMBO_STORED);
			compress_and_check(&c, fill_dot11(MANY), COMBO_ZSTD);
			compress_and_check(&c, fill_dot11(FEW), COMBO_ZSTD_DOT11);
			compress_and_check(&c, fill_noise_dot11(), COMBO_STORED);
			compress_and_check(&c, fill_dot11(FEW), COMBO_ZSTD_DOT11);
		}
		compress_free(&c);
	}
}

/* A context that had another level before compresses like a new one, with and without the
 * dictionary. */
static void levels_change(void **state)
{
	static uint8_t before[2 * COMBO_SIZE_MAX];
	struct compress changing, fresh;
	size_t len, n;

	(void)state;
	assert_int_equal(compress_init(&changing, COMPRESS_LEVEL_MAX, COMBO_SIZE_DEFAULT), 0);
	for (int i = 0, level = 1; i < 200; i++) {
		level = COMPRESS_LEVEL_MIN + (level - COMPRESS_LEVEL_MIN + 37) %
						     (COMPRESS_LEVEL_MAX - COMPRESS_LEVEL_MIN + 1);
		compress_set_level(&changing, level);
		assert_int_equal(compress_init(&fresh, level, COMBO_SIZE_DEFAULT), 0);
		for (int frames = FEW; frames <= MANY; frames += MANY - FEW) {
			len = fill_dot11(frames);
			compress_and_check(&fresh, len,
					   frames == MANY ? COMBO_ZSTD : COMBO_ZSTD_DOT11);
			n = compress_combo(&fresh, before, body, len, 0);
			assert_int_equal(compress_combo(&changing, out, body, len, 0), n);
			assert_memory_equal(out, before, n);
		}
		compress_free(&fresh);
	}
	compress_set_level(&changing, COMPRESS_NONE);
	compress_and_check(&changing, fill_dot11(FEW), COMBO_STORED);
	compress_set_level(&changing, 1);
	compress_and_check(&changing, fill_dot11(FEW), COMBO_ZSTD_DOT11);
	compress_free(&changing);
}

/* As compressed when the dictionary was new: the dictionary must not change. */
static void the_dictionary_is_frozen(void **state)
{
	/* Three frames in a body of version 3. */
	static const uint8_t frozen[] = {
		0x00, 0x00, 0x7d, 0x02, 0x00, 0x63, 0x84, 0x0d, 0xb8, 0xbb, 0xdb, 0xe7, 0x16, 0x37,
		0xee, 0x9c, 0xb3, 0xa3, 0xa3, 0xe3, 0x12, 0x96, 0xa5, 0x2b, 0x6f, 0xd9, 0x92, 0x31,
		0x33, 0x72, 0x06, 0x7d, 0x3e, 0x45, 0x8a, 0x14, 0xdd, 0xf6, 0x98, 0xd6, 0x6d, 0x8f,
		0x69, 0xff, 0xc3, 0xda, 0xff, 0x6d, 0xfb, 0x4f, 0xdb, 0xb6, 0x1d, 0xca, 0xfd, 0x6f,
		0xb8, 0xc2, 0xc6, 0xb9, 0x39, 0x3d, 0x08, 0xfc, 0xb2, 0x8d, 0x37, 0x5a, 0x0a, 0xe4,
		0xa2, 0x3c, 0xb0, 0x3e, 0x2a, 0x5e, 0x55, 0xbf, 0x2b, 0x33, 0x68, 0x43, 0xae, 0x0c
	};
	struct combo_header h = { .frames = 3, .codec = COMBO_ZSTD_DOT11, .body_len = 276 };
	static struct combo_reader old, now;
	struct combo_frame f, want;
	const uint8_t *back;

	(void)state;
	assert_int_equal(combo_open(&now, body, fill_dot11(3), 3), 0);
	memcpy(out + COMBO_HEADER_LEN + COMBO_CODEC_LEN, frozen, sizeof(frozen));
	back = decompress_combo(&d, &h, out, COMBO_HEADER_LEN + COMBO_CODEC_LEN + sizeof(frozen),
				room);
	assert_non_null(back);
	assert_int_equal(combo_open_version(&old, back, h.body_len, 3, 3), 0);
	while (combo_next(&now, &want) == 1) {
		assert_int_equal(combo_next(&old, &f), 1);
		assert_int_equal(f.kept_len, want.kept_len);
		assert_memory_equal(f.data, want.data, want.kept_len);
	}
}

/* The last bytes of the body are stored behind the zstd frame. */
static void dense_bytes_are_behind_the_others(void **state)
{
	struct combo_header h = { .frames = 1, .body_len = 5000 };
	struct compress c;
	size_t n;

	(void)state;
	assert_int_equal(compress_init(&c, 1, COMBO_SIZE_DEFAULT), 0);
	for (size_t dense = 0; dense <= 4998; dense += 7) {
		const uint8_t *back;

		fill(0);
		n = compress_combo(&c, out + COMBO_HEADER_LEN, body, 5000, dense);
		h.codec = out[COMBO_HEADER_LEN];
		assert_true(n <= COMBO_CODEC_LEN + 5000);
		if (dense < 4900)
			assert_int_equal(h.codec, COMBO_ZSTD | (dense ? COMBO_DENSE : 0));
		back = decompress_combo(&d, &h, out, COMBO_HEADER_LEN + n, room);
		assert_non_null(back);
		assert_memory_equal(back, body, 5000);
		assert_memory_equal(out + COMBO_HEADER_LEN + n - dense, body + 5000 - dense, dense);
	}
	n = compress_combo(&c, out + COMBO_HEADER_LEN, body, 5000, 1000);
	h.codec = out[COMBO_HEADER_LEN];
	for (size_t cut = COMBO_CODEC_LEN; cut < n; cut++)
		assert_null(decompress_combo(&d, &h, out, COMBO_HEADER_LEN + cut, room));
	for (int wrong = 999; wrong <= 1001; wrong += 2) {
		out[COMBO_HEADER_LEN + 1] = wrong >> 8;
		out[COMBO_HEADER_LEN + 2] = wrong & 0xff;
		assert_null(decompress_combo(&d, &h, out, COMBO_HEADER_LEN + n, room));
	}
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
		cmocka_unit_test(small_combos_of_80211_have_the_dictionary),
		cmocka_unit_test(stored_ones_between_others),
		cmocka_unit_test(levels_change),
		cmocka_unit_test(the_dictionary_is_frozen),
		cmocka_unit_test(another_size_than_stated_is_refused),
		cmocka_unit_test(dense_bytes_are_behind_the_others),
	};

	return cmocka_run_group_tests_name("compress", tests, setup, teardown);
}
