// SPDX-License-Identifier: GPL-2.0
/* links: agent/radio/plan.o wire/channel.o */
/* Plans: the values of --channels, and each channel's share of a cycle. */
#include "unit.h"

#include "agent/radio/plan.h"

static struct plan p;
static struct plan_asked asked;
static char why[PLAN_WHY_LEN];

static int set_up(void **state)
{
	(void)state;
	memset(&p, 0xa5, sizeof(p)); /* no old content is used */
	plan_asked_init(&asked);
	why[0] = 0;
	return 0;
}

static int parse(const char *list)
{
	return plan_parse(&p, &asked, list, strlen(list), why);
}

static void assert_entry(unsigned int i, unsigned int mhz, unsigned int width, uint32_t us)
{
	assert_int_equal(p.entries[i].channel.mhz, mhz);
	assert_int_equal(p.entries[i].channel.width, width);
	assert_int_equal(p.entries[i].asked_us, us);
}

static void what_a_list_may_say(void **state)
{
	(void)state;
	assert_int_equal(parse("1,6x2,36/80,2437@500ms,6g:37/160x3@7ms,40/40@2sx10"), 0);
	assert_int_equal(p.count, 6);
	assert_entry(0, 2412, 20, 250000);
	assert_entry(1, 2437, 20, 500000);
	assert_entry(2, 5180, 80, 250000);
	assert_entry(3, 2437, 20, 500000);
	assert_entry(4, 6135, 160, 21000);
	assert_entry(5, 5200, 40, 20000000);
	assert_int_equal(p.entries[1].weight, 2);
	asked.dwell_us = 5000;
	assert_int_equal(parse("11"), 0);
	assert_entry(0, 2462, 20, 5000);
	assert_int_equal(p.count, 1);
}

static void what_it_may_not(void **state)
{
	static const struct {
		const char *list, *why;
	} wrong[] = {
		{ "", "'': a channel is missing" },
		{ "1,", "'': a channel is missing" },
		{ ",1", "'': a channel is missing" },
		{ "1,@5ms", "'@5ms': a channel is missing" },
		{ "1,6x", "'6x': behind x stands a weight, from 1 to 100" },
		{ "6x0", "'6x0': behind x stands a weight, from 1 to 100" },
		{ "6x101", "'6x101': behind x stands a weight, from 1 to 100" },
		{ "6x2 ", "'6x2 ': behind x stands a weight, from 1 to 100" },
		{ "6x2x3", "'6x2x3': two weights" },
		{ "6@9ms@9ms", "'6@9ms@9ms': two dwells" },
		{ "6@", "'6@': behind @ stands a dwell, as 250ms or 2s, from 5ms to an hour" },
		{ "6@250",
		  "'6@250': behind @ stands a dwell, as 250ms or 2s, from 5ms to an hour" },
		{ "6@4999us", "'6@4999us': behind @ stands a dwell, as 250ms or 2s, from 5ms to an "
			      "hour" },
		{ "6@3601s", "'6@3601s': behind @ stands a dwell, as 250ms or 2s, from 5ms to an "
			     "hour" },
		{ "6@1hs",
		  "'6@1hs': behind @ stands a dwell, as 250ms or 2s, from 5ms to an hour" },
		{ "6x100@37s", "'6x100@37s': more than an hour" },
		{ "1@3599s,6@2s", "all dwells are more than an hour" },
		{ "all,6,all", "'all': given twice" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(parse(wrong[i].list), -EINVAL);
		assert_string_equal(why, wrong[i].why);
	}
	assert_int_equal(parse("1,six"), -EINVAL);
	assert_non_null(strstr(why, "'six': "));
	assert_int_equal(parse("1,36/7"), -EINVAL);
	assert_non_null(strstr(why, "'36/7': the width must be"));
}

static void as_many_as_there_is_room_for(void **state)
{
	char list[2 * (PLAN_MAX + 1) + 1] = "";

	(void)state;
	for (int i = 0; i < PLAN_MAX; i++)
		memcpy(list + 2 * i, i ? ",1" : "11", 3);
	assert_int_equal(parse(list), 0);
	assert_int_equal(p.count, PLAN_MAX);
	strcat(list, ",1");
	assert_int_equal(parse(list), -EINVAL);
	assert_string_equal(why, "more than 128 channels");
}

static void times(void **state)
{
	uint32_t us;

	(void)state;
	assert_true(plan_time("1500us", 6, &us) == 0 && us == 1500);
	assert_true(plan_time("250ms,", 5, &us) == 0 && us == 250000);
	assert_true(plan_time("3600s", 5, &us) == 0 && us == 3600000000U);
	assert_true(plan_time("0s", 2, &us) == 0 && us == 0);
	assert_int_equal(plan_time("", 0, &us), -EINVAL);
	assert_int_equal(plan_time("ms", 2, &us), -EINVAL);
	assert_int_equal(plan_time("5", 1, &us), -EINVAL);
	assert_true(plan_time("5m", 2, &us) == 0 && us == 300000000);
	assert_true(plan_time("1h", 2, &us) == 0 && us == 3600000000U);
	assert_int_equal(plan_time("61m", 3, &us), -EINVAL);
	assert_int_equal(plan_time("2h", 2, &us), -EINVAL);
	assert_int_equal(plan_time("5d", 2, &us), -EINVAL);
	assert_int_equal(plan_time("5ss", 3, &us), -EINVAL);
	assert_int_equal(plan_time("-5ms", 4, &us), -EINVAL);
	assert_int_equal(plan_time("99999999999999999999s", 21, &us), -EINVAL);
	assert_int_equal(plan_time("4294968ms", 9, &us), -EINVAL);
}

static void all_is_what_the_card_has(void **state)
{
	static const struct radio_channel card[] = {
		{ 2412, 20, 2412 }, { 2437, 20, 2437 }, { 5180, 20, 5180 }, { 5955, 20, 5955 }
	};

	(void)state;
	assert_int_equal(parse("11,allx2@10ms,36/80,40"), 0);
	assert_int_equal(plan_expand(&p, card, 4, why), 0);
	assert_int_equal(p.count, 6);
	assert_entry(0, 2462, 20, 250000);
	assert_entry(1, 2412, 20, 20000);
	assert_entry(2, 2437, 20, 20000);
	assert_entry(3, 5955, 20, 20000);
	assert_entry(4, 5180, 80, 250000);
	assert_entry(5, 5200, 20, 250000);
	assert_int_equal(plan_expand(&p, card, 4, why), 0); /* empty now */
	assert_int_equal(p.count, 6);
	assert_int_equal(parse("all"), 0);
	assert_int_equal(plan_expand(&p, card, 0, why), -EINVAL);
	assert_string_equal(why, "the card has no channel to listen to");
}

/* ---- dwells ---------------------------------------------------------------------------------- */

static uint64_t cycle_sum(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p.count; i++)
		sum += p.entries[i].dwell_us;
	return sum;
}

/* Listens for a whole cycle, with `rates` frames/s per channel. */
static void listen(const uint32_t *rates)
{
	for (uint32_t i = 0; i < p.count; i++) {
		uint32_t us = p.entries[p.at].dwell_us;

		assert_int_equal(p.at, i);
		plan_heard(&p, p.at, (uint64_t)rates[i] * us / 1000000, us);
		plan_step(&p);
	}
}

static void equal_dwells_with_weights(void **state)
{
	static const uint32_t rates[] = { 1000, 0, 5 };

	(void)state;
	assert_int_equal(parse("1,6x3,11@1s"), 0);
	plan_start(&p);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(p.entries[0].dwell_us, 250000);
		assert_int_equal(p.entries[1].dwell_us, 750000);
		assert_int_equal(p.entries[2].dwell_us, 1000000);
		listen(rates);
	}
}

static void proportional_dwells(void **state)
{
	static const uint32_t rates[] = { 800, 150, 50 };
	static const uint32_t other[] = { 0, 0, 1000 };

	(void)state;
	asked.proportional = true;
	assert_int_equal(parse("1,6,11"), 0);
	plan_start(&p);
	assert_int_equal(p.entries[2].dwell_us, 250000); /* nothing is known yet */
	listen(rates);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(cycle_sum(), 750000);
		assert_in_range(p.entries[0].dwell_us, 540000, 556000); /* 5 + 85 * 0.8 % */
		assert_in_range(p.entries[1].dwell_us, 127000, 139000);
		assert_in_range(p.entries[2].dwell_us, 62000, 74000);
		listen(rates);
	}
	for (int i = 0; i < 60; i++)
		listen(other);
	assert_int_equal(cycle_sum(), 750000);
	assert_int_equal(p.entries[0].dwell_us, 37500); /* silent: the floor */
	assert_int_equal(p.entries[1].dwell_us, 37500);
	assert_int_equal(p.entries[2].dwell_us, 675000);
}

static void nothing_heard_anywhere_is_equal(void **state)
{
	static const uint32_t none[3];

	(void)state;
	asked.proportional = true;
	assert_int_equal(parse("1x2,6,11"), 0);
	plan_start(&p);
	listen(none);
	assert_int_equal(p.entries[0].dwell_us, 500000);
	assert_int_equal(p.entries[1].dwell_us, 250000);
}

static void a_weight_counts_in_proportion_too(void **state)
{
	static const uint32_t rates[] = { 100, 100 };

	(void)state;
	asked.proportional = true;
	asked.floor = 10;
	assert_int_equal(parse("1x3@100ms,6@700ms"), 0);
	plan_start(&p);
	listen(rates);
	assert_int_equal(p.entries[0].dwell_us, 700000); /* 10 + 80 * 3/4 % of a second */
	assert_int_equal(p.entries[1].dwell_us, 300000);
}

/* With any frame counts, nothing overflows, each dwell is at least the floor, and the cycle's
 * length is unchanged.
 */
static void bounds(void **state)
{
	(void)state;
	asked.proportional = true;
	for (int floor = 0; floor <= 100; floor += 20) {
		asked.floor = floor;
		assert_int_equal(parse("1@1200s,6@1200s,11@1200s"), 0);
		plan_start(&p);
		plan_heard(&p, 0, UINT64_MAX, 1);
		plan_heard(&p, 1, UINT32_MAX - 1, 1);
		plan_heard(&p, 1, 7, 0);
		plan_heard(&p, 2, 1, UINT64_MAX);
		plan_start(&p);
		assert_int_equal(cycle_sum(), 3600000000U);
		for (int i = 0; i < 3; i++)
			assert_true(p.entries[i].dwell_us >=
					    (floor < 33 ? floor * 36000000U : 1200000000U) &&
				    p.entries[i].dwell_us >= PLAN_DWELL_MIN_US);
	}
	asked.floor = 0;
	assert_int_equal(parse("1@5ms,6@5ms"), 0); /* no less than the least */
	plan_heard(&p, 0, 1000, 1000);
	plan_start(&p);
	assert_int_equal(p.entries[1].dwell_us, 5000);
}

static void the_grid(void **state)
{
	uint64_t now = 1700000000000000000ULL, ends;

	(void)state;
	asked.dwell_us = 100000;
	assert_int_equal(parse("1,6,11"), 0);
	p.members = 2;
	for (int slot = 0; slot < 6; slot++, now += 100000000) {
		unsigned int first;

		p.member = 0;
		plan_grid(&p, now + 1, &ends);
		first = p.at;
		assert_int_equal(ends, now + 100000000);
		assert_int_equal(first, (17000000000ULL + slot) % 3);
		p.member = 1;
		plan_grid(&p, now + 80000000, &ends);
		assert_int_equal(p.at, (first + 1) % 3);
		plan_grid(&p, now - 10000000, &ends); /* a little early */
		assert_true(p.at == (first + 1) % 3 && ends == now + 100000000);
	}
	/* As many members as channels: each is on another one. */
	p.members = 3;
	for (unsigned int j = 0, seen = 0; j < 3; j++) {
		p.member = j;
		plan_grid(&p, now, &ends);
		seen |= 1U << p.at;
		assert_true(j < 2 || seen == 7);
	}
	p.member = 99; /* more than there are channels */
	p.members = 100;
	plan_grid(&p, now, &ends);
	assert_true(p.at < 3);
}

static void channels_are_found(void **state)
{
	const struct radio_channel six = { 2437, 20, 2437 }, wide = { 5180, 80, 5210 };
	const struct radio_channel narrow = { 5180, 20, 5180 };

	(void)state;
	assert_int_equal(parse("1,6,36/80"), 0);
	assert_int_equal(plan_find(&p, &six), 1);
	assert_int_equal(plan_find(&p, &wide), 2);
	assert_int_equal(plan_find(&p, &narrow), -1);
}

static void deafness(void **state)
{
	struct silence_watch d = { 0 };

	(void)state;
	assert_int_equal(silence_watch_listened(&d, 0, 100000, 60000, false),
			 SILENCE_WATCH_NOTHING_NEW);
	assert_int_equal(silence_watch_listened(&d, 3, 100000, 60000, false),
			 SILENCE_WATCH_NOTHING_NEW);
	assert_int_equal(silence_watch_listened(&d, 0, 59999, 60000, false),
			 SILENCE_WATCH_NOTHING_NEW);
	assert_int_equal(silence_watch_listened(&d, 0, 1, 60000, false), SILENCE_WATCH_NOW);
	assert_int_equal(silence_watch_listened(&d, 0, UINT32_MAX, 60000, false),
			 SILENCE_WATCH_NOTHING_NEW);
	assert_int_equal(silence_watch_listened(&d, 0, 1000, 60000, false),
			 SILENCE_WATCH_NOTHING_NEW);
	assert_int_equal(silence_watch_listened(&d, 1, 10, 60000, false), SILENCE_WATCH_NO_MORE);
	d = (struct silence_watch){ 0 };
	assert_int_equal(silence_watch_listened(&d, 0, 60000, 60000, true), SILENCE_WATCH_NOW);
	d = (struct silence_watch){ 0 };
	assert_int_equal(silence_watch_listened(&d, 0, 60000, 0, true),
			 SILENCE_WATCH_NOTHING_NEW); /* off */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_a_list_may_say, set_up),
		cmocka_unit_test_setup(what_it_may_not, set_up),
		cmocka_unit_test_setup(as_many_as_there_is_room_for, set_up),
		cmocka_unit_test_setup(times, set_up),
		cmocka_unit_test_setup(all_is_what_the_card_has, set_up),
		cmocka_unit_test_setup(equal_dwells_with_weights, set_up),
		cmocka_unit_test_setup(proportional_dwells, set_up),
		cmocka_unit_test_setup(nothing_heard_anywhere_is_equal, set_up),
		cmocka_unit_test_setup(a_weight_counts_in_proportion_too, set_up),
		cmocka_unit_test_setup(bounds, set_up),
		cmocka_unit_test_setup(the_grid, set_up),
		cmocka_unit_test_setup(channels_are_found, set_up),
		cmocka_unit_test_setup(deafness, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
