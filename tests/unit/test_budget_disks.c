// SPDX-License-Identifier: GPL-2.0
/* links: collector/output/budget.o collector/model/free_space.o */
/* The promises of budget.h, on small and large disks, with 1 to 10,000 sensors. */
#include "unit.h"

#include "collector/model/free_space.h"
#include "collector/output/budget.h"
#include "collector/output/sensor.h"

#define KB 1000ULL
#define MB (1000 * KB)
#define GB (1000 * MB)
#define TB (1000 * GB)
#define SECOND 1000000000ULL
#define TICK_NS (SECOND / 10)
#define MOST 10000
#define COMBO (256 * KB) /* frames that compress to some hundred bytes */
#define TAP (250 * MB)	 /* bytes/s */
#define FLOOD (460 * MB)

static struct sensor *of;
static struct output_sensor *part;
static struct sensor *list[MOST];
static struct sensors all = { .list = list };
static struct budget b;
static uint64_t now_ns, disk, size;

static const unsigned int counts[] = { 2, 40, 1000, MOST, 0 };
static const uint64_t sizes[] = { 300 * MB, 16 * TB, 0 };

static int setup(void **state)
{
	(void)state;
	of = calloc(MOST, sizeof(*of));
	part = calloc(MOST, sizeof(*part));
	for (unsigned int i = 0; of && part && i < MOST; i++) {
		list[i] = &of[i];
		of[i].output = &part[i];
		of[i].listed = true;
	}
	return of && part ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(of);
	free(part);
	return 0;
}

static void pass(uint64_t ns)
{
	now_ns += ns;
	budget_asked(&b, &all, disk, 0, size, now_ns);
}

/* No sensor has written yet. `heard`: all were heard lately. */
static void begin(uint64_t of_bytes, uint64_t free_bytes, unsigned int count, bool heard)
{
	memset(&b, 0, sizeof(b));
	now_ns = 100000 * SECOND;
	disk = free_bytes;
	size = of_bytes;
	all.count = count;
	for (unsigned int i = 0; i < count; i++) {
		of[i].output->disk_spent = 0;
		of[i].output->disk_wrote_ns = 0;
		of[i].heard_ns = heard ? now_ns : 0;
	}
	pass(0);
}

static bool may(unsigned int i)
{
	return of[i].output->disk_spent < budget_share(&b);
}

/* Writes up to `bytes`, in combos, until held. Returns the bytes written. */
static uint64_t writes(unsigned int i, uint64_t bytes)
{
	uint64_t done = 0;

	while (done < bytes) {
		uint64_t len = bytes - done < COMBO ? bytes - done : COMBO;

		if (!may(i) || disk < len)
			break;
		budget_spend(&b, &all, &of[i], len, now_ns);
		disk -= len;
		done += len;
	}
	return done;
}

/* The first `writers` sensors each write as fast as `rate` for `seconds`. */
static void flood(unsigned int writers, uint64_t rate, unsigned int seconds)
{
	for (uint64_t i = 0; i < seconds * (SECOND / TICK_NS); i++) {
		for (unsigned int w = 0; w < writers; w++)
			writes(w, rate / (SECOND / TICK_NS));
		pass(TICK_NS);
	}
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t reserve(void)
{
	return least(size / BUDGET_PART, BUDGET_RESERVE_MAX);
}

/* Returns one sensor's share of the reserve. */
static uint64_t share(void)
{
	uint64_t n = least(all.count + 1, BUDGET_SHARES);

	return reserve() / least(n, reserve() / BUDGET_SHARE_MIN);
}

/* ---- (a) ------------------------------------------------------------------------------------- */

/* 250 MB/s into an empty disk: a tap is never held before it reaches the reserve. */
static void a_tap_may_have_all_but_the_reserve(uint64_t of_bytes, unsigned int count, bool heard)
{
	begin(of_bytes, of_bytes, count, heard);
	while (disk > reserve() + TAP / 10) {
		assert_int_equal(writes(0, TAP / 10), TAP / 10);
		pass(TICK_NS);
	}
	flood(1, TAP, 600);
	assert_false(may(0));
	assert_true(disk + share() + 2 * COMBO >= reserve());
}

static void a_tap_beside_idle_sensors(void **state)
{
	(void)state;
	for (const uint64_t *of_bytes = sizes; *of_bytes; of_bytes++)
		for (const unsigned int *count = counts; *count; count++) {
			a_tap_may_have_all_but_the_reserve(*of_bytes, *count, false);
			a_tap_may_have_all_but_the_reserve(*of_bytes, *count, true);
		}
}

/* All others write a little now and then. The tap is not held before the last minute, and is then
 * slowed down to the reserve. */
static void a_tap_beside_light_sensors(void **state)
{
	(void)state;
	for (const unsigned int *count = counts; *count; count++) {
		begin(16 * TB, 100 * GB, *count, true);
		for (unsigned int i = 1; i < *count; i++)
			assert_int_equal(writes(i, KB), KB);
		while (disk > reserve() + TAP / 10 && disk > TAP * 60) {
			assert_int_equal(writes(0, TAP / 10), TAP / 10);
			pass(TICK_NS);
		}
		begin(300 * MB, 300 * MB, *count, true);
		for (unsigned int i = 1; i < *count; i++)
			assert_int_equal(writes(i, KB), KB);
		flood(1, TAP, 600);
		assert_true(disk <= reserve());
		assert_true(disk + share() + 2 * COMBO >= reserve());
		assert_int_equal(writes(1, KB), KB);
	}
}

/* Only one sensor is listed: only --keep-free stays free. */
static void who_is_listed_alone(void **state)
{
	(void)state;
	begin(300 * MB, 300 * MB, 1, true);
	flood(1, TAP, 10);
	assert_true(disk < COMBO);
}

/* The reserve would be a few combos. */
static void a_tiny_disk_has_no_reserve(void **state)
{
	(void)state;
	begin(8 * MB, 8 * MB, 40, true);
	flood(1, TAP, 10);
	assert_true(disk < COMBO);
}

/* With a second writer, space is scarce while a burst lasts, and soon after it no longer. */
static void a_burst_that_is_over(void **state)
{
	(void)state;
	begin(10 * GB, 10 * GB, 40, true);
	writes(1, KB);
	while (may(0)) {
		writes(0, TAP / 10);
		pass(TICK_NS);
	}
	assert_true(b.scarce);
	for (int i = 0; i < 90; i++)
		pass(SECOND);
	assert_false(b.scarce);
	assert_int_equal(writes(0, GB), GB);
}

/* ---- (b), (d) -------------------------------------------------------------------------------- */

/* Floods for a day. A light writer is never held, and sensors that start later still get their
 * shares. */
static void floods_leave_the_reserve(uint64_t of_bytes, unsigned int count, unsigned int bad)
{
	uint64_t free_bytes = of_bytes < 100 * GB ? of_bytes : 100 * GB, little;

	begin(of_bytes, free_bytes, count, false);
	little = share() / 2 / 1800;
	for (int second = 0; second < 1800; second++) {
		flood(bad, FLOOD, 1);
		assert_int_equal(writes(bad, little), little);
	}
	for (int minute = 0; minute < 24 * 60; minute++) {
		pass(60 * SECOND);
		for (unsigned int w = 0; w < bad; w++)
			writes(w, FLOOD * 60);
	}
	assert_true(disk <= reserve());
	assert_true(disk + bad * (share() + 2 * COMBO) + share() / 2 >= reserve());
	for (uint64_t late = bad + 1; late < count && (late + 1) * share() < reserve(); late++)
		assert_int_equal(writes(late, share() / 2), share() / 2);
}

static void floods(void **state)
{
	(void)state;
	for (const uint64_t *of_bytes = sizes; *of_bytes; of_bytes++)
		for (const unsigned int *count = counts; *count; count++)
			for (unsigned int bad = 1; bad < *count && bad <= 3; bad += 2)
				floods_leave_the_reserve(*of_bytes, *count, bad);
}

/* During a sudden flood, other writers get much more than the reserve. */
static void a_sudden_flood(void **state)
{
	(void)state;
	for (const unsigned int *count = counts; *count; count++) {
		begin(600 * MB, 600 * MB, *count, false);
		writes(1, KB);
		flood(1, FLOOD, 75);
		assert_true(disk >= 600 * MB / 4);
		assert_int_equal(writes(1, 30 * MB), 30 * MB);
	}
}

/* More floods than shares, at the same time. */
static void a_hundred_floods(void **state)
{
	(void)state;
	begin(16 * TB, 100 * GB, MOST, true);
	flood(100, 100 * MB, 1200);
	assert_true(disk + 100 * COMBO >= reserve() / 201);
	assert_true(writes(100, reserve() / 402) == reserve() / 402);
}

/* ---- (c) ------------------------------------------------------------------------------------- */

static void one_is_held_until_files_are_deleted(uint64_t of_bytes, unsigned int count)
{
	uint64_t freed;

	begin(of_bytes, of_bytes < 100 * GB ? of_bytes : 100 * GB, count, true);
	flood(1, FLOOD, 1200);
	assert_false(may(0));
	freed = share() / 2 + COMBO;
	disk += freed;
	pass(SECOND);
	assert_true(may(0));
	assert_true(writes(0, 2 * freed) + COMBO >= freed);
	disk += 2 * reserve();
	pass(SECOND);
	assert_false(b.scarce);
	assert_true(may(0));
}

static void held_until_files_are_deleted(void **state)
{
	(void)state;
	for (const uint64_t *of_bytes = sizes; *of_bytes; of_bytes++)
		for (const unsigned int *count = counts; *count; count++)
			one_is_held_until_files_are_deleted(*of_bytes, *count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tap_beside_idle_sensors),
		cmocka_unit_test(a_tap_beside_light_sensors),
		cmocka_unit_test(who_is_listed_alone),
		cmocka_unit_test(a_tiny_disk_has_no_reserve),
		cmocka_unit_test(a_burst_that_is_over),
		cmocka_unit_test(floods),
		cmocka_unit_test(a_sudden_flood),
		cmocka_unit_test(a_hundred_floods),
		cmocka_unit_test(held_until_files_are_deleted),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
