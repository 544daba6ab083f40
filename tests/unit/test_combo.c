// SPDX-License-Identifier: GPL-2.0
/* links: wire/combo.o */
#include "unit.h"

#include "wire/bytes.h"
#include "wire/combo.h"

#define FRAMES 300

static uint8_t bytes[FRAMES][200];
static struct combo_frame frames[FRAMES];

static int setup(void **state)
{
	(void)state;
	srand(7);
	for (int i = 0; i < FRAMES; i++) {
		for (size_t j = 0; j < sizeof(bytes[i]); j++)
			bytes[i][j] = rand();
		frames[i] = (struct combo_frame){
			.time_ns = 1700000000000000000ULL + i * 1000 - (i % 7 == 0) * 5000,
			.kept_len = rand() % 40,
			.linktype = i % 50 < 40 ? 127 : 1,
			.interface = i / 100,
			.direction = i % 3 == 0,
			.data = bytes[i],
		};
		frames[i].orig_len = frames[i].kept_len + (i % 2 ? 0 : rand() % 2000);
	}
	frames[5].orig_len = UINT32_MAX;
	frames[6].time_ns = 0;
	frames[7].time_ns = UINT64_MAX;
	return 0;
}

static void assert_frame(const struct combo_frame *got, const struct combo_frame *want)
{
	assert_true(got->time_ns == want->time_ns);
	assert_int_equal(got->orig_len, want->orig_len);
	assert_int_equal(got->kept_len, want->kept_len);
	assert_int_equal(got->linktype, want->linktype);
	assert_int_equal(got->interface, want->interface);
	assert_int_equal(got->direction, want->direction);
	assert_memory_equal(got->data, want->data, want->kept_len);
}

/* Fills `c` from frame `from` on until it is full or the frames are; returns the next frame. */
static int fill(struct combo *c, int from)
{
	combo_reset(c);
	while (from < FRAMES && combo_fits(c, frames[from].kept_len))
		combo_append(c, &frames[from++]);
	return from;
}

static void what_is_appended_is_next(void **state)
{
	static const size_t sizes[] = { COMBO_SIZE_MIN, 3000, COMBO_SIZE_DEFAULT, COMBO_SIZE_MAX };

	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		struct combo c;
		int from = 0;

		assert_int_equal(combo_init(&c, sizes[s], 192), 0);
		while (from < FRAMES) {
			struct combo_reader r;
			struct combo_frame f;
			int first = from;

			from = fill(&c, from);
			assert_true(from > first);
			c.first = first;
			combo_close(&c);
			assert_true(c.body_len <= sizes[s] + COMBO_HEADROOM_MAX);
			assert_int_equal(combo_open(&r, c.body, c.body_len, c.frames), 0);
			assert_int_equal(r.first, first);
			for (int i = first; i < from; i++) {
				assert_int_equal(combo_next(&r, &f), 1);
				assert_frame(&f, &frames[i]);
			}
			assert_int_equal(combo_next(&r, &f), 0);
		}
		combo_free(&c);
	}
}

static void an_empty_combo_takes_the_largest_frame(void **state)
{
	static uint8_t large[32768];
	struct combo_frame f = { .kept_len = sizeof(large), .orig_len = 65535, .data = large };
	struct combo_reader r;
	struct combo c;

	(void)state;
	assert_int_equal(combo_init(&c, COMBO_SIZE_MIN, sizeof(large)), 0);
	assert_true(combo_fits(&c, sizeof(large)));
	combo_append(&c, &f);
	assert_false(combo_fits(&c, 1));
	combo_close(&c);
	assert_true(c.body_len <= COMBO_BODY_MAX);
	assert_int_equal(combo_open(&r, c.body, c.body_len, 1), 0);
	combo_free(&c);
}

static void frames_of_no_bytes_are_counted_too(void **state)
{
	struct combo_frame f = { .data = (const uint8_t *)"" };
	struct combo_reader r;
	struct combo c;
	int n = 0;

	(void)state;
	assert_int_equal(combo_init(&c, COMBO_SIZE_MAX, 192), 0);
	for (; combo_fits(&c, 0); n++)
		combo_append(&c, &f);
	assert_int_equal(n, COMBO_FRAMES_MAX);
	combo_close(&c);
	assert_int_equal(combo_open(&r, c.body, c.body_len, n), 0);
	combo_free(&c);
}

/* Every cut, and every byte set to each of a few values: refused, or read within bounds (which
 * the sanitizers watch: the body is copied to a block of just its size). */
static void a_damaged_body_is_read_within_bounds(void **state)
{
	static const uint8_t evil[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct combo_reader r;
	struct combo c;
	unsigned int refused = 0;

	(void)state;
	assert_int_equal(combo_init(&c, COMBO_SIZE_MIN, 192), 0);
	fill(&c, 0);
	combo_close(&c);
	for (size_t len = 0; len < c.body_len; len++) {
		uint8_t *cut = malloc(len ? len : 1);

		memcpy(cut, c.body, len);
		assert_int_equal(combo_open(&r, cut, len, c.frames), -EBADMSG);
		free(cut);
	}
	for (size_t at = 0; at < c.body_len; at++) {
		for (size_t e = 0; e < sizeof(evil); e++) {
			uint8_t *copy = malloc(c.body_len);

			memcpy(copy, c.body, c.body_len);
			copy[at] = evil[e];
			refused += combo_open(&r, copy, c.body_len, c.frames) != 0;
			free(copy);
		}
	}
	assert_true(refused > 100);
	assert_int_equal(combo_open(&r, c.body, c.body_len, c.frames + 1), -EBADMSG);
	assert_int_equal(combo_open(&r, c.body, c.body_len, c.frames - 1), -EBADMSG);
	combo_free(&c);
}

static void header_as_in_table_4(void **state)
{
	uint8_t out[COMBO_HEADER_LEN + COMBO_CODEC_LEN + 5] = { 0 };
	struct combo_header h;

	(void)state;
	combo_header_write(out, 0x1234, 0xabcd, 3, 5);
	assert_memory_equal(out, "\0\1\x12\x34\xab\xcd\0\3\0\0\0\5SLKI", COMBO_HEADER_LEN);
	assert_int_equal(combo_header_read(&h, out, sizeof(out), 0x1234), 0);
	assert_int_equal(h.seqn, 0xabcd);
	assert_int_equal(combo_header_read(&h, out, sizeof(out) - 1, 0x1234), -EBADMSG);
	assert_int_equal(combo_header_read(&h, out, sizeof(out), 0x1235), -EBADMSG);
	out[COMBO_HEADER_LEN] = COMBO_ZSTD;
	store_be(out + 8, COMBO_BODY_MAX, 4);
	assert_int_equal(combo_header_read(&h, out, sizeof(out), 0x1234), 0);
	store_be(out + 8, COMBO_BODY_MAX + 1, 4);
	assert_int_equal(combo_header_read(&h, out, sizeof(out), 0x1234), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_appended_is_next),
		cmocka_unit_test(an_empty_combo_takes_the_largest_frame),
		cmocka_unit_test(frames_of_no_bytes_are_counted_too),
		cmocka_unit_test(a_damaged_body_is_read_within_bounds),
		cmocka_unit_test(header_as_in_table_4),
	};

	return cmocka_run_group_tests_name("combo", tests, setup, NULL);
}
