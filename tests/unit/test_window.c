// SPDX-License-Identifier: GPL-2.0
/* links: collector/sink/window.o common/monotonic.o wire/put.o */
/* The window of messages that the brokers do not have yet. */
#include "unit.h"

#include "collector/sink/window.h"
#include "wire/bytes.h"

#define VALUE 32768

static struct window w;
static uint8_t value[VALUE];

static int begin(void **state)
{
	(void)state;
	return window_init(&w);
}

static int end(void **state)
{
	(void)state;
	window_free(&w);
	return 0;
}

static struct window_entry *add(struct window_part *part, enum put_topic topic, bool waits)
{
	struct put p = {
		.topic = topic, .key = "lib", .key_len = 3, .value = value, .value_len = VALUE
	};
	struct window_entry *e = window_add(&w, part, &p, waits);

	if (e)
		e->combo = topic == PUT_COMBOS;
	return e;
}

static unsigned int fill(struct window_part *part)
{
	unsigned int n = 0;

	while (window_has_room(&w, part) && add(part, PUT_COMBOS, false))
		n++;
	return n;
}

static void test_shares(void **state)
{
	struct window_part first = { 0 }, second = { 0 }, third = { 0 };
	unsigned int half = WINDOW_BYTES / 2 / VALUE;
	unsigned int n = fill(&first);

	(void)state;
	assert_in_range(n, half * 9 / 10, half);
	assert_false(window_is_full(&w));
	assert_in_range(fill(&second), half / 2 * 8 / 10, half / 2);
	assert_in_range(fill(&third), half / 4 * 7 / 10, half / 4);
	/* What the first one has more than its share, it keeps; it gets nothing new. */
	while (third.first)
		window_remove(&w, third.first);
	assert_int_equal(third.bytes, 0);
	assert_false(window_has_room(&w, &first));
	assert_true(window_has_room(&w, &third));
}

static void test_a_sensor_without_messages_gets_one(void **state)
{
	struct window_part parts[64] = { 0 };
	unsigned int most = 0;

	(void)state;
	for (int i = 0; i < 64; i++)
		most += fill(&parts[i]);
	assert_in_range(most, WINDOW_BYTES / VALUE * 9 / 10, WINDOW_BYTES / VALUE);
	assert_in_range(w.bytes, WINDOW_BYTES / 10 * 9, WINDOW_BYTES);
}

static void test_slots(void **state)
{
	struct window_part part = { 0 };
	struct put p = { .topic = PUT_COMBOS, .value = value, .value_len = 1 };

	(void)state;
	for (unsigned int i = 0; i < WINDOW_SLOTS; i++)
		assert_non_null(window_add(&w, &part, &p, false));
	assert_true(window_is_full(&w));
	assert_null(window_add(&w, &part, &p, false));
	window_remove(&w, w.first);
	assert_non_null(window_add(&w, &part, &p, false));
}

static void test_numbers(void **state)
{
	struct window_part part = { 0 };
	struct window_entry *a = add(&part, PUT_COMBOS, false);
	uint64_t number = a->number;

	(void)state;
	assert_int_equal(load_be(a->bytes + 1, 8), number);
	assert_ptr_equal(window_find(&w, number), a);
	window_remove(&w, a);
	assert_null(window_find(&w, number));
	assert_int_equal(w.bytes, 0);
	/* The slot is used again, with another number. */
	a = add(&part, PUT_COMBOS, false);
	assert_int_not_equal(a->number, number);
	assert_null(window_find(&w, number));
	assert_null(window_find(&w, UINT64_MAX));
}

static void test_sent_in_order_and_again(void **state)
{
	struct window_part part = { 0 };
	struct window_entry *e[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		e[i] = add(&part, PUT_COMBOS, false);
	assert_ptr_equal(w.unsent, e[0]);
	w.unsent = e[2];
	window_remove(&w, e[1]);
	window_remove(&w, e[2]); /* refused before it was sent */
	assert_ptr_equal(w.unsent, e[3]);
	w.unsent = NULL;
	window_again(&w);
	assert_ptr_equal(w.unsent, e[0]);
	assert_ptr_equal(w.unsent->next, e[3]);
	assert_null(e[3]->next);
}

static void test_waits_for_a_record(void **state)
{
	struct window_part part = { 0 }, other = { 0 };
	struct window_entry *record = add(&part, PUT_SENSORS, false);
	struct window_entry *a = add(&part, PUT_COMBOS, true), *b = add(&part, PUT_COMBOS, true);
	struct window_entry *c = add(&other, PUT_COMBOS, false);

	(void)state;
	assert_ptr_equal(record->next, c);
	assert_null(c->next);
	w.unsent = NULL; /* all of these are sent */
	window_remove(&w, record);
	window_release(&w, &part);
	assert_ptr_equal(w.unsent, a);
	assert_ptr_equal(a->next, b);
	assert_ptr_equal(window_first_combo(&part), a);
	window_release(&w, &part); /* nothing waits any more */
	assert_null(b->next);
}

static void test_first_combo(void **state)
{
	struct window_part part = { 0 };
	struct window_entry *totals = add(&part, PUT_COMBOS, false), *combo;

	(void)state;
	totals->combo = false;
	assert_null(window_first_combo(&part));
	combo = add(&part, PUT_COMBOS, false);
	assert_ptr_equal(window_first_combo(&part), combo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_shares, begin, end),
		cmocka_unit_test_setup_teardown(test_a_sensor_without_messages_gets_one, begin,
						end),
		cmocka_unit_test_setup_teardown(test_slots, begin, end),
		cmocka_unit_test_setup_teardown(test_numbers, begin, end),
		cmocka_unit_test_setup_teardown(test_sent_in_order_and_again, begin, end),
		cmocka_unit_test_setup_teardown(test_waits_for_a_record, begin, end),
		cmocka_unit_test_setup_teardown(test_first_combo, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
