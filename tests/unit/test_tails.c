// SPDX-License-Identifier: GPL-2.0
/* links: wire/combo.o wire/columns.o wire/dot11_templates.o wire/wired_templates.o
 * wire/wired_append.o wire/tails.o wire/wired_next.o wire/fields.o wire/combo_open.o */
/*
 * Tails: frames go into combos and come back. The tests count the bytes of columns, because a wrong
 * judgement of a tail only costs bytes. Combos whose columns were changed are refused.
 */
#include "unit.h"

#include "wire/bytes.h"
#include "wire/combo.h"

#define FRAMES_MAX 1000
#define KEPT_MAX 2000
#define LINKTYPE_PPP 9

static struct combo c;
static struct combo_reader reader;
static uint8_t bytes[FRAMES_MAX][KEPT_MAX];
static struct combo_frame frames[FRAMES_MAX];
static uint32_t count;
static uint8_t alone[KEPT_MAX];
static uint64_t random_state = 1;

static uint8_t random_byte(void)
{
	random_state = random_state * 6364136223846793005 + 1442695040888963407;
	return random_state >> 56;
}

static void fill_random(uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = random_byte();
}

static void fill_text(uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = "etaoin shrdlu"[random_byte() % 13];
}

/* The bytes in front of the tail. */
static size_t put_head(uint8_t *p, uint16_t linktype)
{
	static const uint8_t udp[42] = { [12] = 8, [14] = 0x45, [23] = 17, [26] = 10, [33] = 1 };
	static const uint8_t radio[TAILS_HEAD] = { [2] = 8, [8] = 0x08, [9] = 0x41, [24] = 1 };

	memset(p, 0, TAILS_HEAD);
	if (linktype == LINKTYPE_ETHERNET) {
		memcpy(p, udp, sizeof(udp));
		return sizeof(udp);
	}
	if (linktype == LINKTYPE_RADIOTAP)
		memcpy(p, radio, sizeof(radio));
	return TAILS_HEAD;
}

/* Appends a frame whose tail the caller then fills. Returns the tail. */
static uint8_t *new_frame(uint16_t linktype, size_t tail)
{
	uint8_t *p = bytes[count];
	size_t len = put_head(p, linktype) + tail;

	frames[count] = (struct combo_frame){ .time_ns = 1700000000000000000 + count * 1000,
					      .orig_len = len,
					      .kept_len = len,
					      .linktype = linktype,
					      .data = p };
	count++;
	return p + len - tail;
}

static size_t column_len(int i)
{
	return c.columns[i].end - c.columns[i].start;
}

static void append_all(void)
{
	combo_reset(&c);
	for (uint32_t i = 0; i < count; i++) {
		assert_true(combo_fits(&c, frames[i].kept_len));
		combo_append(&c, &frames[i]);
	}
}

static void assert_comes_back(void)
{
	struct combo_frame f;

	combo_close(&c);
	assert_int_equal(combo_open(&reader, c.body, c.body_len, count), 0);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(combo_next(&reader, &f), 1);
		assert_int_equal(f.kept_len, frames[i].kept_len);
		assert_memory_equal(f.data, frames[i].data, f.kept_len);
	}
}

/* The bytes that a lone frame with this tail adds to `randoms`. */
static size_t randoms_of(const uint8_t *tail, size_t len)
{
	count = 0;
	memcpy(new_frame(LINKTYPE_PPP, len), tail, len);
	append_all();
	assert_comes_back();
	return column_len(COMBO_RANDOMS);
}

/* Fills a tail with random bytes that look random; a few do not. */
static void fill_found(uint8_t *tail, size_t len)
{
	struct combo_frame f = { .linktype = LINKTYPE_PPP,
				 .data = alone,
				 .kept_len = TAILS_HEAD + len,
				 .orig_len = TAILS_HEAD + len };

	do {
		fill_random(tail, len);
		memcpy(alone + TAILS_HEAD, tail, len);
		combo_reset(&c);
		combo_append(&c, &f);
	} while (!column_len(COMBO_RANDOMS));
}

/* An Ethernet frame, so that the next one's tail is all of its payload. */
static void start(uint16_t linktype)
{
	count = 0;
	if (linktype == LINKTYPE_ETHERNET)
		new_frame(linktype, 0);
}

static const uint16_t linktypes[] = { LINKTYPE_ETHERNET, LINKTYPE_RADIOTAP, LINKTYPE_IEEE802_11,
				      LINKTYPE_PPP };
#define LINKTYPES (sizeof(linktypes) / sizeof(linktypes[0]))

static void random_tails_are_apart_from_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < LINKTYPES; i++) {
		start(linktypes[i]);
		for (int n = 0; n < 10; n++) {
			fill_found(new_frame(linktypes[i], 300), 300);
			fill_text(new_frame(linktypes[i], 300), 300);
		}
		append_all();
		assert_int_equal(column_len(COMBO_RANDOMS), 10 * 300);
		assert_int_equal(column_len(COMBO_PLACES), 5);
		assert_true(c.data_len >= 10 * 300 && c.data_len <= 10 * 300 + 20 * TAILS_HEAD);
		assert_comes_back();
		assert_int_equal(c.dense_len, 10 * 300);
	}
}

/* With a head of 64 bytes, 802.11 frames of more than 512 bytes have no form. */
static void tails_of_all_lengths_come_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < LINKTYPES; i++)
		for (size_t len = 0; len < 600; len++) {
			count = 0;
			for (int n = 0; n < 3; n++)
				fill_random(new_frame(linktypes[i], len), len);
			memcpy(new_frame(linktypes[i], len), bytes[1] + frames[1].kept_len - len,
			       len);
			append_all();
			assert_comes_back();
		}
}

/* As with `--keep headers`. */
static void without_random_tails_there_are_no_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < LINKTYPES; i++)
		for (size_t len = 0; len < 300; len += len < TAILS_MIN ? 1 : 21) {
			count = 0;
			for (int n = 0; n < 20; n++) {
				uint8_t *tail = new_frame(linktypes[i], len);

				if (len < TAILS_MIN)
					fill_random(tail, len);
				else
					fill_text(tail, len);
			}
			append_all();
			assert_comes_back();
			assert_int_equal(column_len(COMBO_RANDOMS), 0);
			assert_int_equal(column_len(COMBO_PLACES), 0);
		}
}

static void what_zstd_makes_smaller_is_not_random(void **state)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t tail[1024];

	(void)state;
	for (size_t len = TAILS_MIN; len <= sizeof(tail); len++) {
		memset(tail, 0xa7, len);
		assert_int_equal(randoms_of(tail, len), 0);
		for (size_t i = 0; i < len; i++)
			tail[i] = i * 3;
		assert_int_equal(randoms_of(tail, len), 0);
		for (size_t i = 0; i < len; i++)
			tail[i] = digits[random_byte() % 64];
		assert_int_equal(randoms_of(tail, len), 0);
		for (size_t i = 0; i < len; i++)
			tail[i] = i % 4 == 0 ? random_byte() : i % 4 == 1 ? 1 : 0;
		assert_int_equal(randoms_of(tail, len), 0);
		for (size_t i = 0; i < len; i++)
			tail[i] = random_byte() & 0x83;
		assert_int_equal(randoms_of(tail, len), 0);
	}
}

static void random_tails_are_found(void **state)
{
	uint8_t tail[1500];
	uint32_t found = 0, tried = 0;

	(void)state;
	for (size_t len = TAILS_MIN; len <= sizeof(tail); len++, tried++) {
		fill_random(tail, len);
		found += randoms_of(tail, len) == len;
	}
	assert_true(found > tried * 98 / 100);
}

static void a_repeated_tail_is_stored_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < LINKTYPES; i++) {
		uint8_t *first, *second;

		start(linktypes[i]);
		first = new_frame(linktypes[i], 700);
		fill_found(first, 700);
		second = new_frame(linktypes[i], 700);
		fill_found(second, 700);
		for (int n = 0; n < 40; n++)
			memcpy(new_frame(linktypes[i], 700), n % 2 ? first : second, 700);
		append_all();
		assert_int_equal(column_len(COMBO_RANDOMS), 2 * 700);
		assert_true(column_len(COMBO_REFERENCES) >= 40);
		assert_comes_back();
	}
}

/* Appends a tail, `between` others, and the tail again. Returns whether it is stored once. The
 * sensor may have forgotten it, if another tail has its bucket. */
static bool is_found_again(uint32_t between)
{
	uint8_t *first;

	start(LINKTYPE_ETHERNET);
	first = new_frame(LINKTYPE_ETHERNET, TAILS_MIN);
	fill_found(first, TAILS_MIN);
	for (uint32_t n = 0; n < between; n++)
		fill_found(new_frame(LINKTYPE_ETHERNET, TAILS_MIN), TAILS_MIN);
	memcpy(new_frame(LINKTYPE_ETHERNET, TAILS_MIN), first, TAILS_MIN);
	append_all();
	assert_comes_back();
	return column_len(COMBO_REFERENCES) == 1;
}

/* References have one byte. */
static void only_the_last_random_tails_are_found_again(void **state)
{
	(void)state;
	for (uint32_t between = TAILS_BACK - 2; between < TAILS_BACK + 2; between++) {
		uint32_t found = 0;

		for (int n = 0; n < 30; n++)
			found += is_found_again(between);
		assert_int_equal(found > 0, between < TAILS_BACK);
	}
}

static void a_lone_frame_may_be_longer_than_a_combo(void **state)
{
	static uint8_t large[65535];
	struct combo_frame f = { .data = large, .kept_len = sizeof(large), .orig_len = 65535 };

	(void)state;
	for (size_t i = 0; i < LINKTYPES; i++) {
		struct combo_frame got;

		fill_random(large, sizeof(large));
		put_head(large, linktypes[i]);
		f.linktype = linktypes[i];
		combo_reset(&c);
		assert_true(combo_fits(&c, f.kept_len));
		combo_append(&c, &f);
		assert_false(combo_fits(&c, 0));
		combo_close(&c);
		assert_int_equal(combo_open(&reader, c.body, c.body_len, 1), 0);
		assert_int_equal(combo_next(&reader, &got), 1);
		assert_memory_equal(got.data, large, sizeof(large));
	}
}

/* ---- combos that were changed ---------------------------------------------------------------- */

/* Three tails, of which the third is the same as the first. */
static void make_three(void)
{
	do {
		count = 0;
		fill_found(new_frame(LINKTYPE_PPP, 100), 100);
		fill_found(new_frame(LINKTYPE_PPP, 101), 101);
		memcpy(new_frame(LINKTYPE_PPP, 100), bytes[0] + TAILS_HEAD, 100);
		append_all();
	} while (*c.columns[COMBO_PLACES].start != 0x25);
	assert_int_equal(*c.columns[COMBO_REFERENCES].start, 2);
}

static int open_three(void)
{
	combo_close(&c);
	return combo_open(&reader, c.body, c.body_len, 3);
}

static void wrong_places_are_refused(void **state)
{
	(void)state;
	for (int place = 0; place < 256; place++) {
		make_three();
		*c.columns[COMBO_PLACES].start = place;
		assert_int_equal(open_three(), place == 0x25 ? 0 : -EBADMSG);
	}
}

static void wrong_references_are_refused(void **state)
{
	(void)state;
	for (int back = 0; back < 256; back++) {
		make_three();
		*c.columns[COMBO_REFERENCES].start = back;
		assert_int_equal(open_three(), back == 2 ? 0 : -EBADMSG);
	}
}

/* A tail of the combo before is no tail of this one. */
static void nothing_of_another_combo_is_repeated(void **state)
{
	(void)state;
	make_three();
	assert_int_equal(open_three(), 0);
	make_three();
	*c.columns[COMBO_PLACES].start = 0x26; /* the first one is repeated */
	*c.columns[COMBO_REFERENCES].start = 1;
	assert_int_equal(open_three(), -EBADMSG);
}

static void repeated_tails_do_not_exceed_the_bytes_of_a_combo(void **state)
{
	uint32_t most = COMBO_BYTES_MAX / KEPT_MAX;

	(void)state;
	count = 0;
	fill_found(new_frame(LINKTYPE_PPP, KEPT_MAX - TAILS_HEAD), KEPT_MAX - TAILS_HEAD);
	while (count < most)
		memcpy(new_frame(LINKTYPE_PPP, KEPT_MAX - TAILS_HEAD), bytes[0] + TAILS_HEAD,
		       KEPT_MAX - TAILS_HEAD);
	append_all();
	assert_comes_back();
	memcpy(new_frame(LINKTYPE_PPP, KEPT_MAX - TAILS_HEAD), bytes[0] + TAILS_HEAD,
	       KEPT_MAX - TAILS_HEAD);
	combo_reset(&c);
	for (uint32_t i = 0; i < count; i++)
		combo_append(&c, &frames[i]);
	combo_close(&c);
	assert_int_equal(combo_open(&reader, c.body, c.body_len, count), -EBADMSG);
}

static int set_up(void **state)
{
	(void)state;
	return combo_init(&c, COMBO_SIZE_MAX, 65535);
}

static int tear_down(void **state)
{
	(void)state;
	combo_free(&c);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_tails_are_apart_from_others),
		cmocka_unit_test(tails_of_all_lengths_come_back),
		cmocka_unit_test(without_random_tails_there_are_no_places),
		cmocka_unit_test(what_zstd_makes_smaller_is_not_random),
		cmocka_unit_test(random_tails_are_found),
		cmocka_unit_test(a_repeated_tail_is_stored_once),
		cmocka_unit_test(only_the_last_random_tails_are_found_again),
		cmocka_unit_test(a_lone_frame_may_be_longer_than_a_combo),
		cmocka_unit_test(wrong_places_are_refused),
		cmocka_unit_test(wrong_references_are_refused),
		cmocka_unit_test(nothing_of_another_combo_is_repeated),
		cmocka_unit_test(repeated_tails_do_not_exceed_the_bytes_of_a_combo),
	};

	return cmocka_run_group_tests_name("tails", tests, set_up, tear_down);
}
