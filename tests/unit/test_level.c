// SPDX-License-Identifier: GPL-2.0
/* links: agent/export/level.o */
#include "unit.h"

#include "agent/export/level.h"

#define MS 1000000ULL
#define BODY 14000

static struct level l;
static uint64_t now_ns, cpu_ns;
static int level;

/* CPU time of one combo at each step, as a test sets it. */
static uint64_t (*combo_cpu_ns)(int level);

static uint64_t cpu(void)
{
	return cpu_ns;
}

static void combo(bool queue_full, bool blocked, uint32_t ring_used, uint32_t store_used)
{
	now_ns += MS;
	level = level_next(&l, &(struct level_sight){ .queue_full = queue_full,
						      .blocked = blocked,
						      .ring_used = ring_used,
						      .store_used = store_used,
						      .body_len = BODY,
						      .now_ns = now_ns,
						      .cpu_ns = cpu });
	cpu_ns += combo_cpu_ns(level);
}

static void pressed(int combos)
{
	while (combos--)
		combo(true, false, 0, 0);
}

static void calm(int combos)
{
	while (combos--)
		combo(false, false, 0, 0);
}

/* Wired headers: sending is cheap. */
static uint64_t storing_is_cheapest(int at)
{
	return at == COMPRESS_NONE ? 20000 : at == -10 ? 25000 : at == -3 ? 35000 : 45000;
}

/* 802.11 through a slow card: sending is expensive. */
static uint64_t minus_three_is_cheapest(int at)
{
	return at == COMPRESS_NONE ? 70000 : at == -10 ? 50000 : at == -3 ? 30000 : 45000;
}

static int begin(void **state)
{
	(void)state;
	level_init(&l, true, 0);
	now_ns = 1000000 * MS;
	cpu_ns = 5;
	combo_cpu_ns = storing_is_cheapest;
	return 0;
}

static void the_usual_level(void **state)
{
	(void)state;
	calm(1000);
	assert_int_equal(level, LEVEL_USUAL);
	assert_true(l.changes == 0 && l.lowered == 0 && l.raised == 0);
}

/* A burst that fills the queue for less than LEVEL_PRESSED combos changes nothing. */
static void short_bursts(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++) {
		pressed(LEVEL_PRESSED);
		calm(1);
	}
	assert_int_equal(l.changes, 0);
}

static void the_cpu_is_the_limit(void **state)
{
	(void)state;
	pressed(4 * (LEVEL_PRESSED + 1));
	assert_int_equal(level, COMPRESS_NONE);
	assert_int_equal(l.changes, 3);
	assert_true(l.lowered > 20 && l.raised == 0);
	pressed(10000);
	assert_int_equal(level, COMPRESS_NONE);
	assert_int_equal(l.changes, 3);
}

/* Both threads share a CPU: the queue is empty, and the ring fills. */
static void the_ring_fills(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++)
		combo(false, false, 100, 0);
	assert_int_equal(level, COMPRESS_NONE);
}

/* Without a session, or with a slow network, frames wait in the ring before they wait in the
 * store. */
static void the_network_fills_the_ring(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		combo(true, true, 140, 0);
	assert_int_equal(level, LEVEL_USUAL);
	assert_int_equal(l.changes, 0);
}

/* After an outage the queue is full, and the ring empties. */
static void the_ring_empties(void **state)
{
	(void)state;
	for (uint32_t used = 256; used--;)
		combo(used >= 64, false, used, 0);
	assert_int_equal(l.changes, 0);
}

static void the_cheapest_level_is_kept(void **state)
{
	(void)state;
	combo_cpu_ns = minus_three_is_cheapest;
	pressed(4 * (LEVEL_PRESSED + 1));
	assert_int_equal(level, -3);
	pressed(10000);
	assert_int_equal(level, -3);
	assert_int_equal(l.changes, 3); /* -3, -10 as a trial, -3 */
}

/* With other frames, another level may be the cheapest. */
static void costs_are_measured_again(void **state)
{
	(void)state;
	pressed(1000);
	assert_int_equal(level, COMPRESS_NONE);
	combo_cpu_ns = minus_three_is_cheapest;
	pressed(2 * LEVEL_OLD_NS / MS);
	assert_int_equal(level, -3);
}

/* Goes back a step at a time, and after each step that came too early waits twice as long. */
static void hysteresis(void **state)
{
	uint64_t changes, began;

	(void)state;
	pressed(100);
	for (uint64_t hold = LEVEL_HOLD_MIN_NS; hold < LEVEL_HOLD_MAX_NS; hold *= 2) {
		assert_int_equal(level, COMPRESS_NONE);
		began = now_ns;
		changes = l.changes;
		while (l.changes == changes)
			calm(1);
		assert_in_range(now_ns - began, hold - 100 * MS, hold + 100 * MS);
		assert_int_equal(level, -10);
		pressed(100);
	}
	calm(10 * LEVEL_HOLD_MAX_NS / MS);
	assert_int_equal(level, LEVEL_USUAL);
	/* All is forgotten. */
	pressed(100);
	began = now_ns;
	while (level == COMPRESS_NONE)
		calm(1);
	assert_true(now_ns - began <= LEVEL_HOLD_MIN_NS + 100 * MS);
}

static void the_network_is_the_limit(void **state)
{
	int strongest = level_strongest(&l);

	(void)state;
	for (int i = 0; i < 1000; i++)
		combo(true, true, 255, 200); /* all behind the store is full, too */
	assert_int_equal(level, strongest);
	assert_true(strongest == LEVEL_USUAL || l.raised > 700);
	for (int i = 0; i < 10000; i++)
		combo(false, true, 0, 100); /* between: stays */
	assert_int_equal(level, strongest);
	calm(10000);
	assert_int_equal(level, LEVEL_USUAL);
	assert_int_equal(l.lowered, 0);
}

/* A stronger level than the CPU carries: goes back at once. */
static void a_raise_too_many(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		combo(false, true, 0, 200);
	assert_int_equal(level, level_strongest(&l));
	if (level == LEVEL_USUAL)
		return; /* a 32-bit machine never raises it */
	pressed(LEVEL_PRESSED + 1);
	assert_int_equal(level, LEVEL_USUAL);
}

static void a_given_level(void **state)
{
	static const int given[] = { COMPRESS_NONE, -50, 9 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		level_init(&l, false, given[i]);
		pressed(1000);
		assert_int_equal(level, given[i]);
		assert_int_equal(level_strongest(&l), given[i]);
		assert_int_equal(l.now, given[i]);
		assert_int_equal(l.changes, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, begin)
		T(the_usual_level),
		T(short_bursts),
		T(the_cpu_is_the_limit),
		T(the_ring_fills),
		T(the_network_fills_the_ring),
		T(the_ring_empties),
		T(the_cheapest_level_is_kept),
		T(costs_are_measured_again),
		T(hysteresis),
		T(the_network_is_the_limit),
		T(a_raise_too_many),
		T(a_given_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
