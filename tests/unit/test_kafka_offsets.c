// SPDX-License-Identifier: GPL-2.0
/* links: kafka/get/offsets.o */
/* Offsets of saluki-kafka get: what may be committed, what is sent again, and that each message is
 * freed once. Compared with a slow model in random orders. */
#include "unit.h"

#include "kafka/get/offsets.h"

#define MESSAGES 4000
#define PARTITIONS 5

static int frees[MESSAGES + 1]; /* of each message */

/* Messages are numbers from 1. */
static void *message(uintptr_t n)
{
	return (void *)n;
}

static void release(void *m)
{
	frees[(uintptr_t)m]++;
}

static int setup(void **state)
{
	static struct offsets o;

	memset(frees, 0, sizeof(frees));
	*state = &o;
	return offsets_init(&o, release);
}

static int teardown(void **state)
{
	offsets_free(*state);
	return 0;
}

/* Sends the next one. Returns its number. */
static uint64_t next(struct offsets *o, uintptr_t expected)
{
	uint64_t number = 0;
	const struct offsets_item *i = offsets_peek(o, &number);

	assert_non_null(i);
	assert_ptr_equal(i->message, message(expected));
	offsets_sent(o);
	return number;
}

static void test_an_offset_waits_for_those_before_it(void **state)
{
	struct offsets *o = *state;
	uint64_t numbers[4];

	assert_int_equal(offsets_assign(o, 2), 0);
	for (int i = 0; i < 4; i++)
		offsets_add(o, 2, 100 + i * 10, message(i + 1), 5, false);
	for (int i = 0; i < 4; i++)
		numbers[i] = next(o, i + 1);
	assert_int_equal(offsets_find(o, 2)->next, OFFSETS_UNKNOWN);
	assert_int_equal(offsets_done(o, numbers[1]), 0);
	assert_int_equal(offsets_done(o, numbers[2]), 0);
	assert_int_equal(offsets_find(o, 2)->next, OFFSETS_UNKNOWN);
	assert_int_equal(offsets_done(o, numbers[0]), 0);
	assert_int_equal(offsets_find(o, 2)->next, 121); /* gaps: compaction, transactions */
	assert_int_equal(offsets_done(o, numbers[0]), -ENOENT);
	assert_int_equal(o->waiting, 1);
	assert_int_equal(o->bytes, 5);
}

static void test_done_of_what_was_not_sent(void **state)
{
	struct offsets *o = *state;

	offsets_assign(o, 0);
	offsets_add(o, 0, 7, message(1), 1, false);
	assert_int_equal(offsets_done(o, 0), -ENOENT);
	assert_int_equal(offsets_done(o, 1), -ENOENT);
	assert_int_equal(offsets_done(o, UINT64_MAX), -ENOENT);
	assert_int_equal(offsets_done(o, next(o, 1)), 0);
}

static void test_a_stranger_is_not_sent(void **state)
{
	struct offsets *o = *state;
	uint64_t first;

	offsets_assign(o, 0);
	offsets_add(o, 0, 0, message(1), 1, false);
	offsets_add(o, 0, 1, message(2), 1, true);
	offsets_add(o, 0, 2, message(3), 1, false);
	first = next(o, 1);
	next(o, 3);
	assert_int_equal(offsets_done(o, first), 0);
	assert_int_equal(offsets_find(o, 0)->next, 2);
	offsets_assign(o, 1);
	offsets_add(o, 1, 50, message(4), 1, true);
	assert_int_equal(offsets_find(o, 1)->next, 51);
}

static void test_a_new_connection_sends_again_in_order(void **state)
{
	struct offsets *o = *state;
	uint64_t numbers[6], number;

	offsets_assign(o, 0);
	offsets_assign(o, 1);
	for (int i = 0; i < 6; i++)
		offsets_add(o, i % 2, i, message(i + 1), 1, false);
	for (int i = 0; i < 5; i++)
		numbers[i] = next(o, i + 1);
	offsets_done(o, numbers[0]);
	offsets_done(o, numbers[3]);
	offsets_rewind(o);
	assert_int_equal(next(o, 2), numbers[1]);
	number = next(o, 3);
	next(o, 5);
	offsets_back(o, number); /* the socket has not taken them */
	next(o, 3);
	next(o, 5);
	next(o, 6);
	assert_null(offsets_peek(o, &number));
}

static void test_a_revoked_partition_is_forgotten(void **state)
{
	struct offsets *o = *state;
	uint64_t numbers[4];

	offsets_assign(o, 0);
	offsets_assign(o, 1);
	for (int i = 0; i < 4; i++)
		offsets_add(o, i % 2, i, message(i + 1), 1, false);
	for (int i = 0; i < 3; i++)
		numbers[i] = next(o, i + 1);
	offsets_done(o, numbers[2]);
	assert_int_equal(offsets_revoke(o, 0), 1);
	assert_null(offsets_find(o, 0));
	assert_int_equal(offsets_done(o, numbers[0]), -ENOENT); /* it comes late */
	assert_int_equal(offsets_assign(o, 0), 0);
	assert_int_equal(offsets_find(o, 0)->next, OFFSETS_UNKNOWN);
	offsets_rewind(o);
	next(o, 2);
	next(o, 4);
	assert_int_equal(offsets_revoke(o, 7), 0);
}

static void test_it_is_full(void **state)
{
	struct offsets *o = *state;

	offsets_assign(o, 0);
	offsets_add(o, 0, 0, message(1), OFFSETS_BYTES - 1, false);
	assert_false(offsets_is_full(o));
	offsets_add(o, 0, 1, message(2), 1, false);
	assert_true(offsets_is_full(o));
	offsets_done(o, next(o, 1));
	assert_false(offsets_is_full(o));
	for (int i = 2; i <= OFFSETS_MESSAGES; i++)
		offsets_add(o, 0, i, message(3), 0, false);
	assert_true(offsets_is_full(o));
	assert_int_equal(offsets_assign(o, -1), -EINVAL);
	assert_int_equal(offsets_assign(o, OFFSETS_PARTITIONS), -ENOMEM);
}

/* ---- the model ------------------------------------------------------------------------------- */

static struct model {
	int partition;
	int64_t offset;
	enum { ABSENT, WAITING, SENT, HAS_DONE, GONE } is;
	uint64_t number;
} model[MESSAGES + 1];

/* The first offset of the partition without DONE, or behind its last one. */
static int64_t to_commit(int partition, int count)
{
	int64_t found = OFFSETS_UNKNOWN;

	for (int i = 1; i <= count; i++) {
		if (model[i].partition != partition || model[i].is == GONE)
			continue;
		if (model[i].is != HAS_DONE)
			break;
		found = model[i].offset + 1;
	}
	return found;
}

static void check(struct offsets *o, int count)
{
	uint64_t waiting = 0;

	for (int p = 0; p < PARTITIONS; p++) {
		const struct offsets_partition *one = offsets_find(o, p);

		if (one)
			assert_int_equal(one->next, to_commit(p, count));
	}
	for (int i = 1; i <= count; i++) {
		waiting += model[i].is == WAITING || model[i].is == SENT;
		assert_int_equal(frees[i], model[i].is == HAS_DONE || model[i].is == GONE);
	}
	assert_int_equal(o->waiting, waiting);
	assert_int_equal(o->bytes, waiting * 3);
}

static void send_one(struct offsets *o, int count)
{
	uint64_t number;
	const struct offsets_item *item = offsets_peek(o, &number);
	int first = 1;

	while (first <= count && model[first].is != WAITING)
		first++;
	if (first > count) {
		assert_null(item);
		return;
	}
	assert_non_null(item);
	assert_ptr_equal(item->message, message(first));
	model[first].number = number;
	model[first].is = SENT;
	offsets_sent(o);
}

static void revoke(struct offsets *o, int partition, int count)
{
	offsets_revoke(o, partition);
	for (int i = 1; i <= count; i++)
		if (model[i].partition == partition)
			model[i].is = GONE;
	offsets_assign(o, partition);
}

static void test_as_the_model(void **state)
{
	struct offsets *o = *state;
	int count = 0, one;

	memset(model, 0, sizeof(model));
	srandom(28);
	for (int p = 0; p < PARTITIONS; p++)
		offsets_assign(o, p);
	for (int step = 0; count < MESSAGES; step++) {
		long what = random() % 200;

		if (what < 60) {
			model[++count] = (struct model){ .partition = random() % PARTITIONS,
							 .offset = step,
							 .is = what < 3 ? HAS_DONE : WAITING };
			offsets_add(o, model[count].partition, step, message(count), 3, what < 3);
		} else if (what < 130) {
			send_one(o, count);
		} else if (what < 198 && count) {
			one = count > 50 ? count - random() % 50 : 1 + random() % count;
			if (model[one].is == SENT) {
				assert_int_equal(offsets_done(o, model[one].number), 0);
				model[one].is = HAS_DONE;
			}
		} else if (what == 198) {
			offsets_rewind(o);
			for (int i = 1; i <= count; i++)
				model[i].is = model[i].is == SENT ? WAITING : model[i].is;
		} else if (random() % 4 == 0) {
			revoke(o, random() % PARTITIONS, count);
		}
		if (step % 37 == 0)
			check(o, count);
	}
	check(o, count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_an_offset_waits_for_those_before_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_done_of_what_was_not_sent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_stranger_is_not_sent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_new_connection_sends_again_in_order, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_revoked_partition_is_forgotten, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_it_is_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_as_the_model, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
