// SPDX-License-Identifier: GPL-2.0
/* links: collector/output/budget.o collector/model/free_space.o */
/* Budget: each sensor's share of a disk that fills up. */
#include "unit.h"

#include "collector/model/free_space.h"
#include "collector/output/budget.h"
#include "collector/output/sensor.h"

#define MB 1000000ULL
#define GB (1000 * MB)
#define SECOND 1000000000ULL
#define SENSORS 21

static struct sensor of[SENSORS];
static struct output_sensor part[SENSORS];
static struct sensor *list[SENSORS];
static struct sensors all = { .list = list };
static struct budget b;
static uint64_t now_ns, disk, keep, size;

static void begin(uint64_t free, unsigned int count)
{
	memset(&b, 0, sizeof(b));
	memset(of, 0, sizeof(of));
	memset(part, 0, sizeof(part));
	now_ns = 1000 * SECOND;
	disk = free;
	keep = GB;
	size = 0;
	all.count = count;
	for (unsigned int i = 0; i < SENSORS; i++) {
		list[i] = &of[i];
		of[i].output = &part[i];
		of[i].listed = true;
		of[i].output->disk_wrote_ns = now_ns;
	}
	budget_asked(&b, &all, disk, keep, size, now_ns);
}

static bool may(unsigned int i)
{
	return of[i].output->disk_spent < budget_share(&b);
}

/* Writes a piece if allowed. Returns whether it was. */
static bool writes(unsigned int i, uint64_t len)
{
	if (!may(i) || disk < keep + len)
		return false;
	budget_spend(&b, &all, &of[i], len, now_ns);
	disk -= len;
	return true;
}

static void pass(uint64_t ns)
{
	now_ns += ns;
	for (unsigned int i = 0; i < all.count; i++)
		of[i].output->disk_wrote_ns = now_ns;
	budget_asked(&b, &all, disk, keep, size, now_ns);
}

/* Writes at `rate` bytes/s for `seconds`, or until refused. Returns the bytes written. */
static uint64_t writes_at(unsigned int i, uint64_t rate, uint64_t seconds)
{
	uint64_t written = 0;

	for (uint64_t n = 0; n < 10 * seconds && writes(i, rate / 10); n++) {
		written += rate / 10;
		pass(SECOND / 10);
	}
	return written;
}

static void what_is_kept_free(void **state)
{
	const struct space usual = KEEP_FREE_DEFAULT, size = { .bytes = 5 * GB },
			   part = { .bytes = UINT64_MAX, .percent = 50 }, none = { 0 };

	(void)state;
	assert_true(space_of(&usual, 100 * GB) == GB);
	assert_true(space_of(&usual, 1000 * GB) == 1ULL << 30);
	assert_true(space_of(&size, 100 * GB) == 5 * GB);
	assert_true(space_of(&part, 100 * GB) == 50 * GB);
	assert_true(space_of(&none, 100 * GB) == 0);
}

/* 250 MB/s for hours, next to other sensors, on a disk with enough space. */
static void a_full_rate_tap_is_not_limited(void **state)
{
	(void)state;
	begin(4000 * GB, 20);
	assert_true(writes_at(0, 250 * MB, 4 * 3600) == 3600 * GB);
	assert_false(b.scarce);
	for (unsigned int i = 1; i < 20; i++)
		assert_true(writes(i, MB));
}

/* Files are deleted all the time, and free space never falls below a minute's worth. */
static void nor_is_it_where_files_are_deleted(void **state)
{
	(void)state;
	begin(20 * GB, 20);
	for (int hour = 0; hour < 3600; hour++) {
		assert_true(writes_at(0, 250 * MB, 4) == GB);
		disk += GB;
		pass(0);
	}
}

static void who_is_alone_may_have_it_all(void **state)
{
	uint64_t written;

	(void)state;
	begin(11 * GB, 1);
	written = writes_at(0, 100 * MB, 1000);
	assert_true(written > 10 * GB - 20 * MB);
}

/* One sensor takes everything it gets, at once. The other gets its share of the rest. */
static void one_takes_what_it_gets(void **state)
{
	uint64_t taken, had;

	(void)state;
	begin(11 * GB, 2);
	taken = writes_at(0, 1 * GB, 100);
	assert_true(taken > 5 * GB && taken < 7 * GB);
	had = writes_at(1, 10 * MB, 10000);
	assert_true(had >= 10 * GB / 2 / 3 - 100 * MB);
	assert_false(may(0)); /* however long it waits */
}

/* All sensors except one flood: the worst case stated in budget.h. */
static void all_but_one_do(void **state)
{
	(void)state;
	begin(11 * GB, SENSORS);
	for (int round = 0; round < 2000; round++) {
		for (unsigned int i = 1; i < SENSORS; i++)
			writes(i, 10 * MB);
		pass(SECOND / 100);
	}
	assert_true(writes_at(0, MB, 10000) >= 10 * GB / 2 / (SENSORS + 1) - 20 * MB);
}

/* One after the other, so that no single one is large. */
static void one_after_the_other(void **state)
{
	(void)state;
	begin(11 * GB, SENSORS);
	for (unsigned int i = 1; i < SENSORS; i++)
		writes_at(i, 100 * MB, 1000);
	assert_true(b.began > 3 * GB);
	assert_true(writes_at(0, MB, 10000) >= b.began / (SENSORS + 1) - 20 * MB);
}

/* However slowly one sensor writes, scarcity begins while space is left. */
static void one_is_slow(void **state)
{
	(void)state;
	begin(11 * GB, 2);
	size = 128 * GB;
	pass(0);
	assert_true(writes_at(0, MB, 100000) < 10 * GB - GB);
	assert_true(writes_at(1, MB, 100000) >= 600 * MB);
}

static void deleted_files_make_room(void **state)
{
	(void)state;
	begin(11 * GB, 2);
	writes_at(0, 1 * GB, 100);
	assert_false(may(0));
	disk += GB;
	pass(SECOND);
	assert_true(may(0));
	assert_true(writes_at(0, 100 * MB, 1000) > GB / 2);
	assert_false(may(0));
	disk += 20 * GB; /* enough space for all */
	pass(SECOND);
	assert_false(b.scarce);
	assert_true(may(0));
}

/* Another program fills the disk: shares become smaller, and none overflows. */
static void others_use_the_disk(void **state)
{
	(void)state;
	begin(11 * GB, 2);
	writes_at(0, 1 * GB, 100);
	disk = GB / 2;
	pass(SECOND);
	assert_false(may(0));
	assert_true(budget_share(&b) < 2 * GB);
	assert_true(may(1)); /* it has spent nothing; free space is checked elsewhere */
}

static void time_forgets(void **state)
{
	(void)state;
	begin(11 * GB, 2);
	writes_at(0, 1 * GB, 100);
	assert_false(may(0));
	for (int i = 0; i < 2 * 60; i++)
		pass(60 * SECOND);
	assert_true(may(0));
}

/* A caller's time may be older than the last query's. */
static void an_older_time(void **state)
{
	uint64_t recent;

	(void)state;
	begin(100 * GB, 2);
	writes(0, GB);
	now_ns += SECOND;
	budget_asked(&b, &all, disk, keep, size, now_ns);
	recent = b.recent;
	now_ns -= SECOND / 100;
	writes(0, GB);
	assert_true(b.recent >= recent + GB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_free),
		cmocka_unit_test(a_full_rate_tap_is_not_limited),
		cmocka_unit_test(nor_is_it_where_files_are_deleted),
		cmocka_unit_test(who_is_alone_may_have_it_all),
		cmocka_unit_test(one_takes_what_it_gets),
		cmocka_unit_test(all_but_one_do),
		cmocka_unit_test(one_after_the_other),
		cmocka_unit_test(one_is_slow),
		cmocka_unit_test(deleted_files_make_room),
		cmocka_unit_test(others_use_the_disk),
		cmocka_unit_test(time_forgets),
		cmocka_unit_test(an_older_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
