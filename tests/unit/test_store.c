// SPDX-License-Identifier: GPL-2.0
/* links: agent/export/store.o */
#include "unit.h"

#include "agent/export/store.h"
#include "wire/combo.h"

static uint8_t byte_of(uint64_t count, size_t i)
{
	return count * 7 + i * 13 + i / 256;
}

static struct store_combo *put(struct store *s, size_t len)
{
	static uint8_t wire[COMBO_WIRE_MAX];

	for (size_t i = 0; i < len; i++)
		wire[i] = byte_of(s->end, i);
	return store_put(s, wire, len);
}

static void assert_kept(struct store *s, uint64_t count, size_t len)
{
	const struct store_combo *c = store_get(s, count);
	static uint8_t out[COMBO_WIRE_MAX];

	assert_non_null(c);
	assert_int_equal(c->len, len);
	store_read(s, c, 0, len, out);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(out[i], byte_of(count, i));
	/* Any range has the same bytes. */
	for (int n = 0; n < 20; n++) {
		size_t at = random() % len, part = random() % (len - at + 1);

		store_read(s, c, at, part, out);
		for (size_t i = 0; i < part; i++)
			assert_int_equal(out[i], byte_of(count, at + i));
	}
}

static void combos_of_every_size(void **state)
{
	struct store s;

	(void)state;
	srandom(1);
	assert_int_equal(store_init(&s, 4 << 20), 0);
	store_start(&s, 1000);
	for (size_t len = 1; len < COMBO_WIRE_MAX; len += 1 + len / 3) {
		uint64_t count = s.end;

		assert_non_null(put(&s, len));
		assert_kept(&s, count, len);
	}
	assert_null(store_get(&s, 999));
	assert_null(store_get(&s, s.end));
	store_free(&s);
	store_free(&s);
}

/* A combo in the store keeps its bytes while others come and go. */
static void comes_and_goes(void **state)
{
	size_t lens[256] = { 0 };
	struct store s;

	(void)state;
	srandom(2);
	assert_int_equal(store_init(&s, 256 << 10), 0);
	store_start(&s, 0);
	for (int round = 0; round < 20000; round++) {
		uint64_t kept = s.end - s.lowest;
		size_t len = 1 + random() % 5000;

		if (random() % 3 || !kept) {
			if (put(&s, len))
				lens[(s.end - 1) % 256] = len;
			else
				assert_int_equal(store_settle(&s, s.lowest + 1), 1);
		} else if (random() % 8 == 0) {
			store_drop_newest(&s);
		} else {
			uint64_t n = 1 + random() % 3;

			assert_int_equal(store_settle(&s, s.lowest + n), n < kept ? n : kept);
		}
		assert_true(s.end - s.lowest <= 256);
		if (!store_is_empty(&s)) {
			uint64_t any = s.lowest + random() % (s.end - s.lowest);

			assert_kept(&s, any, lens[any % 256]);
		}
	}
	store_settle(&s, UINT64_MAX);
	assert_true(store_is_empty(&s));
	assert_int_equal(s.free_count, s.blocks);
	store_free(&s);
}

static void full_and_never_more_than_that(void **state)
{
	struct store s;
	int n = 0;

	(void)state;
	assert_int_equal(store_init(&s, STORE_BYTES_MIN), 0);
	assert_true(s.mapped_len <= STORE_BYTES_MIN);
	store_start(&s, 5);
	while (put(&s, 3000))
		n++;
	assert_int_equal(s.end, 5 + n);
	assert_in_range(n, 15, 21);
	for (uint64_t c = 5; c < s.end; c++)
		assert_kept(&s, c, 3000);
	store_settle(&s, 6);
	assert_non_null(put(&s, 3000));
	/* The largest fits into the smallest. */
	store_settle(&s, s.end);
	assert_non_null(put(&s, COMBO_WIRE_MAX));
	store_free(&s);
}

/* A sensor with an answering collector uses the same few blocks again and again. */
static void quiet_sensors_touch_little(void **state)
{
	struct store s;

	(void)state;
	assert_int_equal(store_init(&s, 4 << 20), 0);
	store_start(&s, 0);
	for (int i = 0; i < 10000; i++) {
		assert_non_null(put(&s, 4000));
		assert_non_null(put(&s, 1000));
		store_settle(&s, s.end);
	}
	assert_true(s.fresh < 10);
	store_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(combos_of_every_size),
		cmocka_unit_test(comes_and_goes),
		cmocka_unit_test(full_and_never_more_than_that),
		cmocka_unit_test(quiet_sensors_touch_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
