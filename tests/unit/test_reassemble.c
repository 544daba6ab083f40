// SPDX-License-Identifier: GPL-2.0
/* links: collector/combo/reassemble.o collector/combo/reassemble_pool.o */
#include "unit.h"

#include <stdlib.h>

#include "collector/combo/reassemble.h"
#include "wire/combo.h"

static uint8_t content[COMBO_WIRE_MAX];
static struct reassemble_pool pool;

static struct piece piece(uint64_t combo, uint16_t offset, size_t len, uint16_t total)
{
	return (struct piece){ .combo = combo & 0xffffff,
			       .offset = offset,
			       .total = total,
			       .data = content + offset,
			       .len = len };
}

static enum reassemble_result add(struct reassembly *r, uint64_t combo, uint16_t offset, size_t len,
				  uint16_t total, uint64_t now)
{
	struct piece p = piece(combo, offset, len, total);

	return reassemble_add(r, &pool, &p, now);
}

/* Adds a whole combo of 100 bytes. */
static enum reassemble_result add_small(struct reassembly *r, uint64_t combo)
{
	return add(r, combo, 0, 100, 100, 1);
}

/* Takes all complete combos. Returns how many; the last one's count is in `last`. */
static int take(struct reassembly *r, uint64_t *last)
{
	const uint8_t *data;
	size_t len;
	int n = 0;

	while ((data = reassemble_take(r, &pool, &len, last))) {
		assert_memory_equal(data, content, len);
		reassemble_done(r, &pool);
		n++;
	}
	return n;
}

static int begin(void **state)
{
	(void)state;
	pool = (struct reassemble_pool){ .limit = REASSEMBLE_POOL_LIMIT_DEFAULT };
	return 0;
}

/* Asserts that the pool is empty. */
static void end(struct reassembly *r)
{
	reassemble_free(r, &pool);
	assert_int_equal(pool.used, 0);
	assert_null(pool.due.oldest);
	assert_null(pool.ahead.oldest);
	for (int i = 0; i < REASSEMBLE_POOL_CLASSES; i++)
		assert_null(pool.classes[i]);
}

static void pieces_in_any_order(void **state)
{
	struct reassembly r = { 0 };
	uint64_t last;

	(void)state;
	assert_int_equal(add(&r, 0, 2000, 1000, 3000, 1), REASSEMBLE_TAKEN);
	assert_int_equal(add(&r, 0, 0, 1000, 3000, 1), REASSEMBLE_TAKEN);
	assert_int_equal(take(&r, &last), 0);
	assert_int_equal(add(&r, 0, 0, 1000, 3000, 1), REASSEMBLE_DUPLICATE);
	assert_int_equal(add(&r, 0, 1000, 1000, 3000, 1), REASSEMBLE_TAKEN);
	assert_int_equal(take(&r, &last), 1);
	assert_int_equal(add(&r, 0, 1000, 1000, 3000, 1), REASSEMBLE_DUPLICATE);
	assert_int_equal(add(&r, 1, 0, 1000, 65535, 1), REASSEMBLE_BAD);
	end(&r);
}

/* Pieces of any lengths in multiples of 8, overlapping, of combos of every length around a word of
 * the map. */
static void pieces_cut_anywhere(void **state)
{
	(void)state;
	srand(6);
	for (uint16_t total = 1; total < 1200; total += 1 + total / 9) {
		struct reassembly r = { 0 };
		uint64_t last;
		int rounds = 0;

		while (!take(&r, &last)) {
			uint16_t offset = rand() % total & ~7;
			size_t len = (1 + rand() % 40) * PIECE_UNIT;

			assert_true(rounds++ < 20000);
			if (len > (size_t)total - offset)
				len = total - offset;
			assert_int_not_equal(add(&r, 0, offset, len, total, 1), REASSEMBLE_BAD);
		}
		end(&r);
	}
}

/* The first bytes that arrived stay. */
static void pieces_that_differ(void **state)
{
	struct reassembly r = { 0 };
	uint8_t other[64];
	struct piece p = piece(0, 0, 64, 128);
	uint64_t last;

	(void)state;
	assert_int_equal(add(&r, 0, 8, 8, 128, 1), REASSEMBLE_TAKEN);
	memcpy(other, content, sizeof(other));
	memset(other + 8, 0xee, 8);
	p.data = other;
	assert_int_equal(reassemble_add(&r, &pool, &p, 1), REASSEMBLE_TAKEN);
	assert_int_equal(add(&r, 0, 64, 64, 128, 1), REASSEMBLE_TAKEN);
	assert_int_equal(take(&r, &last), 1); /* which compares */
	end(&r);
}

static void combos_come_out_in_order(void **state)
{
	struct reassembly r = { 0 };
	uint64_t last = 0;

	(void)state;
	add_small(&r, 2);
	add_small(&r, 1);
	assert_int_equal(take(&r, &last), 0);
	assert_true(reassemble_held(&r) == 3);
	add_small(&r, 0);
	assert_int_equal(take(&r, &last), 3);
	assert_int_equal(last, 2);
	assert_true(reassemble_held(&r) == 0);
	end(&r);
}

static void a_window_of_combos(void **state)
{
	struct reassembly r = { 0 };
	uint64_t last;

	(void)state;
	for (uint64_t c = 1; c < REASSEMBLE_SLOTS; c++)
		assert_int_equal(add_small(&r, c), REASSEMBLE_TAKEN);
	assert_int_equal(add_small(&r, REASSEMBLE_SLOTS), REASSEMBLE_REFUSED);
	assert_true(reassemble_held(&r) == UINT64_MAX >> 1);
	assert_int_equal(add_small(&r, 0), REASSEMBLE_TAKEN);
	assert_int_equal(take(&r, &last), REASSEMBLE_SLOTS);
	assert_int_equal(add_small(&r, REASSEMBLE_SLOTS), REASSEMBLE_TAKEN);
	assert_int_equal(add_small(&r, 3), REASSEMBLE_DUPLICATE);
	end(&r);
}

static void counts_go_on_beyond_24_bits(void **state)
{
	struct reassembly r = { 0 };
	uint64_t last;

	(void)state;
	reassemble_start(&r, &pool, (1ULL << 24) - 2);
	for (uint64_t c = (1ULL << 24) - 2; c < (1ULL << 24) + 5; c++) {
		assert_int_equal(add(&r, c, 0, 50, 50, 1), REASSEMBLE_TAKEN);
		assert_int_equal(take(&r, &last), 1);
		assert_int_equal(last, c);
	}
	end(&r);
}

/* Below the floor, whole combos come out in order, and nothing waits for the rest. */
static void what_will_not_come(void **state)
{
	struct reassembly r = { 0 };
	uint64_t last;

	(void)state;
	add_small(&r, 2);
	add(&r, 3, 0, 1000, 3000, 1);
	add_small(&r, 5);
	add_small(&r, 9);
	reassemble_floor(&r, 8);
	assert_int_equal(take(&r, &last), 2);
	assert_int_equal(last, 5);
	assert_int_equal(r.next, 8);
	assert_true(reassemble_held(&r) == 1);
	assert_int_equal(add_small(&r, 7), REASSEMBLE_DUPLICATE);
	reassemble_floor(&r, 4); /* an older one */
	assert_int_equal(add_small(&r, 8), REASSEMBLE_TAKEN);
	assert_int_equal(take(&r, &last), 2);
	reassemble_floor(&r, 1ULL << 60);
	assert_int_equal(take(&r, &last), 0);
	assert_true(r.next == 1ULL << 60);
	end(&r);
}

/* Another handshake: whole combos stay, the rest is sent again. */
static void half_a_combo_comes_again(void **state)
{
	struct reassembly r = { 0 };
	uint64_t last;

	(void)state;
	assert_int_equal(add(&r, 0, 1000, 1000, 3000, 1), REASSEMBLE_TAKEN);
	add_small(&r, 2);
	reassemble_resume(&r, &pool);
	assert_int_equal(r.held, 1);
	assert_int_equal(add(&r, 0, 0, 1000, 2000, 1), REASSEMBLE_TAKEN);
	assert_int_equal(add(&r, 2, 0, 200, 200, 1), REASSEMBLE_DUPLICATE);
	assert_int_equal(add(&r, 0, 1000, 1000, 2000, 1), REASSEMBLE_TAKEN);
	assert_int_equal(take(&r, &last), 1);
	add_small(&r, 1);
	assert_int_equal(take(&r, &last), 2);
	end(&r);
}

/* A piece of the old layout was still under way: the combo is completed all the same. */
static void laid_out_otherwise(void **state)
{
	struct reassembly r = { 0 };
	uint64_t last;

	(void)state;
	assert_int_equal(add(&r, 0, 1000, 1000, 3000, 1), REASSEMBLE_TAKEN);
	assert_int_equal(add(&r, 0, 0, 1000, 2000, 1), REASSEMBLE_TAKEN);
	assert_int_equal(add(&r, 0, 1000, 1000, 2000, 1), REASSEMBLE_TAKEN);
	assert_int_equal(take(&r, &last), 1);
	end(&r);
}

/* One sensor fills the pool with combos it cannot use yet. Combos that others wait for come
 * first. */
static void a_full_pool(void **state)
{
	struct reassembly greedy = { 0 }, other = { 0 };
	uint64_t last, refused = 0;

	(void)state;
	pool.limit = 20 * 4096;
	for (uint64_t c = 1; c < REASSEMBLE_SLOTS; c++)
		refused += add(&greedy, c, 0, 4000, 4000, 1) == REASSEMBLE_REFUSED;
	assert_true(refused > 40 && pool.refused == refused);
	assert_true(pool.used <= pool.limit);
	assert_int_equal(add(&greedy, 63, 0, 4000, 4000, 2), REASSEMBLE_REFUSED);
	for (uint64_t c = 0; c < 100; c++) {
		assert_int_equal(add(&other, c, 0, 2000, 4000, 2), REASSEMBLE_TAKEN);
		assert_int_equal(add(&other, c, 2000, 2000, 4000, 2), REASSEMBLE_TAKEN);
		assert_int_equal(take(&other, &last), 1);
	}
	assert_true(pool.evicted > 0 && pool.evicted < 3);
	/* The furthest one was evicted: the rest comes out at once. */
	assert_int_equal(add(&greedy, 0, 0, 4000, 4000, 3), REASSEMBLE_TAKEN);
	assert_true(take(&greedy, &last) > 10);
	reassemble_free(&greedy, &pool);
	end(&other);
}

/* Forty sensors hold combos that they never finish, with few bytes, and refresh them. A working
 * sensor still gets its share for combos sent ahead, and sensors with less keep theirs. */
static void a_share_of_the_pool(void **state)
{
	static struct reassembly bad[40];
	struct reassembly good = { 0 }, small = { 0 };
	unsigned int taken = 0;

	(void)state;
	for (uint64_t c = 0; c < REASSEMBLE_SLOTS; c++)
		for (int i = 0; i < 40; i++)
			add(&bad[i], c, 0, 8, 32000, 1 + c);
	assert_true(pool.refused > 0);
	for (uint64_t c = 1; c < 4; c++)
		assert_int_equal(add(&small, c, 0, 1000, 32000, 90), REASSEMBLE_TAKEN);
	for (uint64_t c = 1; c < REASSEMBLE_SLOTS; c++)
		taken += add(&good, c, 0, 1000, 32000, 100) == REASSEMBLE_TAKEN;
	assert_true(taken * 32000 > REASSEMBLE_POOL_LIMIT_DEFAULT / 42 - 2 * REASSEMBLE_POOL_CLASS);
	assert_int_equal(small.held, 3);
	for (int i = 0; i < 40; i++) {
		/* No sensor has much more than another, and combos due first are there. */
		assert_in_range(bad[i].share->size, good.share->size - 3 * REASSEMBLE_POOL_CLASS,
				good.share->size + 3 * REASSEMBLE_POOL_CLASS);
		assert_non_null(reassemble_pool_find(&bad[i], 0));
	}
	assert_true(pool.used <= pool.limit);
	/* They keep trying; none evicts another for long. */
	taken = pool.evicted;
	for (int round = 0; round < 10; round++)
		for (uint64_t c = 0; c < REASSEMBLE_SLOTS; c++)
			for (int i = 0; i < 40; i++)
				add(&bad[i], c, 8, 8, 32000, 200 + round);
	assert_in_range(pool.evicted - taken, 0, 40);
	for (int i = 0; i < 40; i++)
		reassemble_free(&bad[i], &pool);
	reassemble_free(&small, &pool);
	end(&good);
}

/* The pool is full of combos of sensors that fell silent within one. */
static void a_pool_of_the_dead(void **state)
{
	static struct reassembly dead[100];
	struct reassembly r = { 0 };
	uint64_t last, refused = 0;

	(void)state;
	pool.limit = 64 * 1024;
	for (int i = 0; i < 100; i++)
		refused += add(&dead[i], 0, 0, 1000, 3000, 1000) == REASSEMBLE_REFUSED;
	assert_in_range(refused, 60, 99);
	assert_int_equal(add(&r, 0, 0, 3000, 3000, 2000), REASSEMBLE_REFUSED);
	assert_int_equal(add(&r, 0, 0, 3000, 3000, 1000 + REASSEMBLE_POOL_STALE_NS),
			 REASSEMBLE_TAKEN);
	assert_int_equal(take(&r, &last), 1);
	for (int i = 0; i < 100; i++)
		reassemble_free(&dead[i], &pool);
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(pieces_in_any_order, begin),
		cmocka_unit_test_setup(pieces_cut_anywhere, begin),
		cmocka_unit_test_setup(pieces_that_differ, begin),
		cmocka_unit_test_setup(combos_come_out_in_order, begin),
		cmocka_unit_test_setup(a_window_of_combos, begin),
		cmocka_unit_test_setup(counts_go_on_beyond_24_bits, begin),
		cmocka_unit_test_setup(what_will_not_come, begin),
		cmocka_unit_test_setup(half_a_combo_comes_again, begin),
		cmocka_unit_test_setup(laid_out_otherwise, begin),
		cmocka_unit_test_setup(a_full_pool, begin),
		cmocka_unit_test_setup(a_share_of_the_pool, begin),
		cmocka_unit_test_setup(a_pool_of_the_dead, begin),
	};

	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = i * 7 + i / 251;
	return cmocka_run_group_tests_name("reassemble", tests, NULL, NULL);
}
