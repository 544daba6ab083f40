// SPDX-License-Identifier: GPL-2.0
/* links: kafka/get/records.o kafka/get/holds.o kafka/get/offsets.o */
/* Records of saluki-kafka get, and combos that wait for them: the last value counts, each goes once
 * in each connection, memory is bounded, and no combo waits for ever. */
#include "unit.h"

#include "kafka/get/holds.h"

static struct records records;
static struct offsets offsets;
static struct holds holds;
static int released;

static void release(void *m)
{
	assert_non_null(m);
	released++;
}

static int setup(void **state)
{
	(void)state;
	released = 0;
	if (records_init(&records) || offsets_init(&offsets, release))
		return -1;
	holds_init(&holds, &offsets, &records);
	return offsets_assign(&offsets, 0) ?: offsets_assign(&offsets, 1);
}

static int teardown(void **state)
{
	(void)state;
	holds_free(&holds);
	offsets_free(&offsets);
	records_free(&records);
	return 0;
}

static int put(const char *key, const char *value)
{
	return records_put(&records, key, strlen(key), value, strlen(value), 5);
}

/* Sends the next record, which is this one. */
static void expect(const char *key, const char *value)
{
	const struct record *r = records_peek(&records);

	assert_non_null(r);
	assert_int_equal(r->key_len, strlen(key));
	assert_memory_equal(r->key, key, r->key_len);
	assert_int_equal(r->value_len, strlen(value));
	assert_memory_equal(r->value, value, r->value_len);
	assert_int_equal(r->time_ms, 5);
	records_sent(&records);
}

static void test_the_last_value_counts(void **state)
{
	(void)state;
	put("a/1", "old");
	put("b/1", "other");
	put("a/1", "new");
	expect("a/1", "new");
	expect("b/1", "other");
	assert_null(records_peek(&records));
	put("a/1", "newer");
	expect("a/1", "newer");
	assert_null(records_peek(&records));
	assert_int_equal(records.bytes, strlen("newer") + strlen("other"));
	records_rewind(&records);
	put("c/1", "third");
	expect("a/1", "newer");
	expect("b/1", "other");
	expect("c/1", "third");
	assert_null(records_peek(&records));
}

static void test_a_deleted_record_is_unknown(void **state)
{
	(void)state;
	assert_false(records_has(&records, "a/1", 3));
	put("a/1", "x");
	assert_true(records_has(&records, "a/1", 3));
	assert_false(records_has(&records, "a/1", 2));
	assert_int_equal(records_put(&records, "a/1", 3, NULL, 0, 5), 0);
	assert_false(records_has(&records, "a/1", 3));
	expect("a/1", "");
}

static void test_records_are_bounded(void **state)
{
	static char big[PUT_VALUE_MAX];
	char key[32];
	uint64_t fit = RECORDS_BYTES / sizeof(big);

	(void)state;
	for (uint64_t i = 0; i < fit + 3; i++) {
		snprintf(key, sizeof(key), "big-%u", (unsigned int)i);
		assert_int_equal(records_put(&records, key, strlen(key), big, sizeof(big), 5),
				 i < fit ? 0 : -ENOSPC);
	}
	assert_int_equal(records.over, 3);
	put("big-0", "");
	for (unsigned int i = records.count; i < RECORDS_MAX + 10; i++) {
		snprintf(key, sizeof(key), "%u", i);
		assert_int_equal(put(key, ""), i < RECORDS_MAX ? 0 : -ENOSPC);
	}
	assert_int_equal(records.count, RECORDS_MAX);
	assert_int_equal(records.over, 13);
	assert_int_equal(put("7", "y"), -ENOSPC); /* this key was never there */
	assert_int_equal(put(key, "y"), -ENOSPC);
	assert_int_equal(put("5000", "y"), 0); /* this one was */
}

/* ---- combos that wait ------------------------------------------------------------------------ */

/* Messages are numbers; `key` "": a message without a record. */
static void take(int32_t partition, uintptr_t n, const char *key, uint64_t ticket)
{
	struct hold h = { .message = (void *)n,
			  .bytes = 10,
			  .offset = n,
			  .partition = partition,
			  .pass = !*key,
			  .key_len = strlen(key) };

	memcpy(h.key, key, h.key_len);
	assert_int_equal(holds_take(&holds, &h, ticket), 0);
}

static void expect_message(uintptr_t n)
{
	uint64_t number;
	const struct offsets_item *i = offsets_peek(&offsets, &number);

	if (!n) {
		assert_null(i);
		return;
	}
	assert_non_null(i);
	assert_ptr_equal(i->message, (void *)n);
	offsets_sent(&offsets);
	assert_int_equal(offsets_done(&offsets, number), 0);
}

static void test_a_partition_waits_for_a_record(void **state)
{
	(void)state;
	put("a/1", "x");
	take(0, 1, "a/1", 1);
	take(0, 2, "a/2", 1);
	take(0, 3, "a/1", 1);
	take(1, 4, "a/1", 1);
	assert_int_equal(holds.wanted, 1);
	expect_message(1);
	expect_message(4);
	expect_message(0);
	holds_release(&holds, 0);
	expect_message(0);
	put("a/2", "x");
	holds_release(&holds, 0);
	expect_message(2);
	expect_message(3);
	assert_int_equal(holds.count, 0);
	assert_int_equal(holds.bytes, 0);
	assert_int_equal(holds.unknown, 0);
}

static void test_no_combo_waits_for_ever(void **state)
{
	(void)state;
	take(0, 1, "a/1", 5);
	take(0, 2, "a/2", 6);
	holds_release(&holds, 4);
	expect_message(0);
	holds_release(&holds, 5);
	expect_message(1);
	expect_message(0);
	holds_release(&holds, 7);
	expect_message(2);
	assert_int_equal(holds.unknown, 2);
}

/* It must not be committed before the message in front of it. */
static void test_a_stranger_waits_behind_a_combo(void **state)
{
	(void)state;
	take(0, 1, "a/1", 1);
	take(0, 2, "", 1);
	assert_int_equal(holds.passing, 1);
	assert_int_equal(offsets_find(&offsets, 0)->next, OFFSETS_UNKNOWN);
	holds_release(&holds, 1);
	expect_message(1);
	expect_message(0);
	assert_int_equal(offsets_find(&offsets, 0)->next, 3);
	assert_int_equal(holds.passing, 0);
}

static void test_a_revoked_partition_is_forgotten(void **state)
{
	(void)state;
	take(0, 1, "a/1", 1);
	take(0, 2, "", 1);
	take(1, 3, "a/1", 1);
	assert_int_equal(holds_revoke(&holds, 0), 1);
	assert_int_equal(released, 2);
	assert_int_equal(holds_revoke(&holds, 9), 0);
	holds_release(&holds, 1);
	expect_message(3);
	expect_message(0);
}

static void test_held_messages_fill_the_window(void **state)
{
	(void)state;
	for (int i = 1; i < OFFSETS_MESSAGES; i++)
		take(0, i, "a/1", 1);
	assert_false(holds_are_full(&holds));
	take(1, 1, "a/1", 1);
	assert_true(holds_are_full(&holds));
	holds_release(&holds, 1);
	assert_true(holds_are_full(&holds));
	expect_message(1);
	assert_false(holds_are_full(&holds));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_last_value_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_deleted_record_is_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_records_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_partition_waits_for_a_record, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_no_combo_waits_for_ever, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_stranger_waits_behind_a_combo, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_revoked_partition_is_forgotten, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_held_messages_fill_the_window, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
