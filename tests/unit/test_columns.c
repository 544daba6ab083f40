// SPDX-License-Identifier: GPL-2.0
/* links: wire/columns.o */
#include "unit.h"

#include "wire/columns.h"

static struct combo combo;
static uint8_t *memory;
static uint32_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void begin(size_t size)
{
	memory = malloc(
		columns_memory(size, size)); /* exactly, so that a sanitizer sees all beyond */
	assert_non_null(memory);
	memset(&combo, 0, sizeof(combo));
	columns_init(&combo, memory, size, size);
}

/* The n-th byte of a column. */
static uint8_t expected(int i, size_t n)
{
	return i * 37 + n;
}

static void grow(int i, size_t bytes)
{
	columns_make_room(&combo);
	for (; bytes; bytes--, combo.columns_len++)
		put_byte(&combo, i, expected(i, column_len(&combo, i)));
}

static void assert_bytes(void)
{
	for (int i = 0; i < COMBO_COLUMNS; i++)
		for (size_t n = 0; n < column_len(&combo, i); n++)
			assert_int_equal(combo.columns[i].start[n], expected(i, n));
}

/* Any column may be the one that has all bytes of a combo, after a combo of which another one had
 * all. */
static void test_one_column_has_all(void **state)
{
	(void)state;
	for (size_t size = COMBO_SIZE_MIN; size <= COMBO_SIZE_MAX; size *= 2) {
		begin(size);
		for (int i = 0; i < COMBO_COLUMNS; i++) {
			while (combo.columns_len + COMBO_FRAME_MAX <= size)
				grow(i, COMBO_FRAME_MAX);
			assert_bytes();
			columns_reset(&combo);
		}
		free(memory);
	}
}

/* Frames add to some columns, more to a few of them, and the few change. */
static void test_random_columns(void **state)
{
	(void)state;
	for (seed = 1; seed < 300; seed += 7) {
		size_t size = COMBO_SIZE_MIN + below(COMBO_SIZE_MAX - COMBO_SIZE_MIN);

		begin(size);
		for (int n = 0; n < 8; n++) {
			uint32_t first = below(COMBO_COLUMNS), some = 1 + below(COMBO_COLUMNS);

			while (combo.columns_len + COMBO_FRAME_MAX <= size)
				grow((first + below(some)) % COMBO_COLUMNS,
				     1 + below(COMBO_FRAME_MAX));
			assert_bytes();
			columns_reset(&combo);
		}
		free(memory);
	}
}

/* A combo's largest event fits behind any frames. */
static void test_events(void **state)
{
	size_t most = COMBO_EVENT_HEAD_MAX + COMBO_EVENT_MAX;

	(void)state;
	begin(COMBO_SIZE_MIN);
	for (int n = 0; n < 8; n++) {
		for (uint32_t frames = below(20); frames; frames--)
			grow(below(COMBO_COLUMNS), 1 + below(20));
		grow(COMBO_EVENTS, most);
		assert_bytes();
		columns_reset(&combo);
	}
	free(memory);
}

/* Combos that are alike find their columns where they need them. */
static void test_columns_stay(void **state)
{
	uint8_t *starts[COMBO_COLUMNS];

	(void)state;
	begin(COMBO_SIZE_DEFAULT);
	for (int n = 0; n < 4; n++) {
		for (int i = 0; combo.columns_len + 3 <= COMBO_SIZE_DEFAULT; i = (i + 1) % 2)
			grow(i ? COMBO_TIMES : COMBO_HEADS, i ? 1 : 3);
		for (int i = 0; i < COMBO_COLUMNS; i++) {
			if (n > 1)
				assert_ptr_equal(starts[i], combo.columns[i].start);
			starts[i] = combo.columns[i].start;
		}
		columns_reset(&combo);
	}
	free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_column_has_all),
		cmocka_unit_test(test_random_columns),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_columns_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
