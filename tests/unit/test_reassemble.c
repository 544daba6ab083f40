// SPDX-License-Identifier: GPL-2.0
/* links: collector/reassemble.o */
#include "unit.h"

#include "collector/reassemble.h"
#include "wire/combo.h"

static uint8_t content[COMBO_WIRE_MAX];

/* Piece `n` of a combo of `total` bytes. */
static struct piece piece(uint64_t combo, unsigned int n, uint16_t total)
{
	struct piece p = { .combo = combo & 0xffffff,
			   .offset = n * PIECE_DATA_MAX,
			   .total = total };

	p.len = total - p.offset < PIECE_DATA_MAX ? total - p.offset : PIECE_DATA_MAX;
	p.data = content + p.offset;
	return p;
}

static enum reassemble_result add(struct reassembly *r, uint64_t combo, unsigned int n,
				  uint16_t total, uint64_t now)
{
	struct piece p = piece(combo, n, total);

	return reassemble_add(r, &p, now);
}

/* Takes everything that is complete; returns how many, the last one's number in `last`. */
static int take(struct reassembly *r, uint64_t *last)
{
	const uint8_t *data;
	size_t len;
	int n = 0;

	while ((data = reassemble_take(r, &len, last))) {
		assert_memory_equal(data, content, len);
		reassemble_done(r);
		n++;
	}
	return n;
}

static void pieces_in_any_order(void **state)
{
	struct reassembly r = { 0 };
	uint64_t last;

	(void)state;
	assert_int_equal(add(&r, 0, 2, 3000, 1), REASSEMBLE_TAKEN);
	assert_int_equal(add(&r, 0, 0, 3000, 1), REASSEMBLE_TAKEN);
	assert_int_equal(take(&r, &last), 0);
	assert_int_equal(add(&r, 0, 0, 3000, 1), REASSEMBLE_DUPLICATE);
	assert_int_equal(add(&r, 0, 1, 2999, 1), REASSEMBLE_BAD);
	assert_int_equal(add(&r, 0, 1, 3000, 1), REASSEMBLE_TAKEN);
	assert_int_equal(take(&r, &last), 1);
	assert_int_equal(add(&r, 0, 1, 3000, 1), REASSEMBLE_DUPLICATE);
	assert_int_equal(add(&r, 1, 0, 65535, 1), REASSEMBLE_BAD);
	reassemble_free(&r);
}

static void combos_come_out_in_order(void **state)
{
	struct reassembly r = { 0 };
	uint64_t last = 0;

	(void)state;
	add(&r, 2, 0, 100, 1);
	add(&r, 1, 0, 100, 1);
	assert_int_equal(take(&r, &last), 0);
	add(&r, 0, 0, 100, 1);
	assert_int_equal(take(&r, &last), 3);
	assert_int_equal(last, 2);
	reassemble_free(&r);
}

static void what_is_missing_is_passed_over_in_time(void **state)
{
	struct reassembly r = { 0 };
	uint64_t last;

	(void)state;
	add(&r, 0, 0, 100, 1);
	assert_int_equal(take(&r, &last), 1);
	add(&r, 3, 0, 100, 1000);
	assert_false(reassemble_tick(&r, 1000 + REASSEMBLE_WAIT_NS - 1, false));
	assert_true(reassemble_tick(&r, 1000 + REASSEMBLE_WAIT_NS, false));
	assert_int_equal(take(&r, &last), 1);
	assert_int_equal(last, 3);
	assert_int_equal(add(&r, 2, 0, 100, 1), REASSEMBLE_DUPLICATE);
	reassemble_free(&r);
}

static void or_when_too_much_is_behind_it(void **state)
{
	struct reassembly r = { 0 };
	uint64_t last;
	int n = 0;

	(void)state;
	add(&r, 0, 0, 3000, 1); /* the rest never comes */
	for (uint64_t c = 1; c < 100; c++) {
		enum reassemble_result got;

		while ((got = add(&r, c, 0, 100, 1)) == REASSEMBLE_FULL)
			n += take(&r, &last);
		assert_int_equal(got, REASSEMBLE_TAKEN);
		n += take(&r, &last);
	}
	assert_int_equal(n, 99);
	assert_int_equal(last, 99);
	reassemble_free(&r);
}

static void numbers_go_on_beyond_24_bits(void **state)
{
	struct reassembly r = { .started = true, .next = (1ULL << 24) - 2 };
	uint64_t last;

	(void)state;
	for (uint64_t c = (1ULL << 24) - 2; c < (1ULL << 24) + 5; c++) {
		assert_int_equal(add(&r, c, 0, 50, 1), REASSEMBLE_TAKEN);
		assert_int_equal(take(&r, &last), 1);
		assert_int_equal(last, c);
	}
	reassemble_free(&r);
}

static void a_jump_far_ahead_is_bounded_work(void **state)
{
	struct reassembly r = { 0 };
	uint64_t last;

	(void)state;
	add(&r, 0, 0, 3000, 1);
	assert_int_equal(add(&r, 5000000, 0, 100, 1), REASSEMBLE_TAKEN);
	assert_true(reassemble_tick(&r, 2 * REASSEMBLE_WAIT_NS, false));
	assert_int_equal(take(&r, &last), 1);
	assert_int_equal(last, 5000000);
	reassemble_free(&r);
}

/* An agent was killed with half a combo sent; the next one sends it again, laid out otherwise. */
static void half_a_combo_comes_again(void **state)
{
	struct reassembly r = { 0 };
	uint64_t last;

	(void)state;
	add(&r, 0, 0, 100, 1);
	assert_int_equal(take(&r, &last), 1);
	assert_int_equal(add(&r, 1, 1, 3000, 1), REASSEMBLE_TAKEN);
	reassemble_resume(&r);
	assert_int_equal(r.held, 0);
	assert_int_equal(add(&r, 1, 0, 2000, 1), REASSEMBLE_TAKEN);
	assert_int_equal(take(&r, &last), 0);
	assert_int_equal(add(&r, 1, 1, 2000, 1), REASSEMBLE_TAKEN);
	assert_int_equal(take(&r, &last), 1);
	assert_int_equal(last, 1);
	reassemble_free(&r);
}

/* However late: with nothing behind it, it is not given up. */
static void even_when_its_time_was_over(void **state)
{
	struct reassembly r = { 0 };
	uint64_t last;

	(void)state;
	add(&r, 0, 0, 100, 1);
	assert_int_equal(take(&r, &last), 1);
	add(&r, 1, 1, 3000, 1);
	assert_false(reassemble_tick(&r, 100 * REASSEMBLE_WAIT_NS, false));
	assert_false(reassemble_tick(&r, 200 * REASSEMBLE_WAIT_NS, false));
	assert_int_equal(r.waiting_since_ns, 0); /* nor is it looked at again and again */
	reassemble_resume(&r);
	assert_int_equal(add(&r, 1, 0, 90, 1), REASSEMBLE_TAKEN);
	assert_int_equal(take(&r, &last), 1);
	assert_int_equal(last, 1);
	reassemble_free(&r);
}

/* What was taken, or waits whole for its turn, is not taken again, whatever it looks like. */
static void whole_combos_that_come_again(void **state)
{
	struct reassembly r = { 0 };
	uint64_t last;

	(void)state;
	add(&r, 0, 0, 100, 1);
	assert_int_equal(take(&r, &last), 1);
	add(&r, 2, 0, 100, 1);
	reassemble_resume(&r);
	assert_int_equal(r.held, 1);
	assert_int_equal(add(&r, 0, 0, 200, 1), REASSEMBLE_DUPLICATE);
	assert_int_equal(add(&r, 2, 0, 200, 1), REASSEMBLE_DUPLICATE);
	assert_int_equal(add(&r, 2, 1, 3000, 1), REASSEMBLE_DUPLICATE);
	assert_int_equal(add(&r, 1, 0, 100, 1), REASSEMBLE_TAKEN);
	assert_int_equal(take(&r, &last), 2);
	assert_int_equal(last, 2);
	assert_int_equal(r.whole, 0);
	reassemble_free(&r);
}

static void a_run_heard_from_the_middle(void **state)
{
	struct reassembly r = { 0 };
	uint64_t last;

	(void)state;
	add(&r, 1000, 0, 100, 1);
	assert_int_equal(take(&r, &last), 1);
	assert_int_equal(last, 1000);
	reassemble_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_in_any_order),
		cmocka_unit_test(combos_come_out_in_order),
		cmocka_unit_test(what_is_missing_is_passed_over_in_time),
		cmocka_unit_test(or_when_too_much_is_behind_it),
		cmocka_unit_test(numbers_go_on_beyond_24_bits),
		cmocka_unit_test(a_jump_far_ahead_is_bounded_work),
		cmocka_unit_test(half_a_combo_comes_again),
		cmocka_unit_test(even_when_its_time_was_over),
		cmocka_unit_test(whole_combos_that_come_again),
		cmocka_unit_test(a_run_heard_from_the_middle),
	};

	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = i * 7;
	return cmocka_run_group_tests_name("reassemble", tests, NULL, NULL);
}
