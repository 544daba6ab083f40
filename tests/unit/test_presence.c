// SPDX-License-Identifier: GPL-2.0
/* links: collector/board/presence.o collector/board/links.o wire/info.o */
/* Log lines about sensors that fall silent, are heard again, end, or never begin. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "collector/board/links.h"
#include "collector/board/presence.h"
#include "said.h"

#define SECOND 1000000000ULL
#define FLEET 40

static struct presence p;
static struct sensor all[FLEET], *list[FLEET];
static struct sensors sensors;
static uint64_t now_ns;

/* A fleet of listed sensors, heard now. */
static void fleet(unsigned int count)
{
	sensors = (struct sensors){ .list = list, .count = count };
	for (unsigned int i = 0; i < count; i++) {
		all[i] = (struct sensor){ .listed = true,
					  .heard_ns = now_ns,
					  .presence = SENSOR_UP };
		snprintf(all[i].name, sizeof(all[i].name), "lib-%u", i + 1);
		list[i] = &all[i];
	}
}

static int begin(void **state)
{
	(void)state;
	p = (struct presence){ .silent_ns = 15 * SECOND };
	now_ns = 1000 * SECOND;
	said_begin();
	return 0;
}

static int end(void **state)
{
	(void)state;
	said_end();
	return 0;
}

/* Lets seconds pass, in which the first `heard` sensors send. */
static void pass(unsigned int seconds, unsigned int heard)
{
	while (seconds--) {
		now_ns += SECOND;
		for (unsigned int i = 0; i < heard; i++)
			all[i].heard_ns = now_ns;
		presence_tick(&p, &sensors, now_ns);
	}
}

static void describe(unsigned int i, char *text)
{
	all[i].info = (struct sensor_info){ .len = strlen(text),
					    .version = all[i].info.version + 1,
					    .text = text };
}

static void test_links(void **state)
{
	static char up[] = "interface.0=eth0\ninterface.1=wlan0\n",
		    down[] = "links=ud\ninterface.0=eth0\ninterface.1=wlan0\n",
		    none[] = "links=ca\ninterface.0=eth0\ninterface.1=wlan0\n";

	(void)state;
	fleet(20);
	describe(0, up);
	pass(2, 20);
	assert_int_equal(count_said("\n"), 0);
	describe(0, down);
	pass(3, 20);
	assert_int_equal(count_said("sensor lib-1: its interface wlan0 is down\n"), 1);
	describe(0, none);
	pass(3, 20);
	assert_int_equal(count_said("sensor lib-1: its interface eth0 has no carrier\n"), 1);
	assert_int_equal(count_said("sensor lib-1: its interface wlan0 is absent\n"), 1);
	describe(0, up);
	pass(3, 20);
	assert_int_equal(count_said("is up again\n"), 2);
	assert_int_equal(count_said("\n"), 5);
	for (unsigned int i = 1; i < 20; i++)
		describe(i, down);
	pass(3, 20);
	assert_int_equal(count_said("\n"), 5 + LINKS_LINES + 1);
	assert_int_equal(count_said("the state of 9 more interfaces has changed\n"), 1);
}

static void test_one_falls_silent(void **state)
{
	(void)state;
	fleet(10);
	pass(100, 10);
	assert_int_equal(count_said("\n"), 0);
	pass(14, 9);
	assert_int_equal(count_said("\n"), 0);
	pass(60, 9);
	assert_int_equal(all[9].presence, SENSOR_SILENT);
	assert_int_equal(count_said("sensor lib-10: silent since "), 1);
	pass(1, 10);
	assert_int_equal(count_said("sensor lib-10: heard again after 75 s of silence\n"), 1);
	pass(100, 10);
	assert_int_equal(count_said("\n"), 2);
}

/* A new session has its line already: network/connections.c sets the presence. */
static void test_connected_again(void **state)
{
	(void)state;
	fleet(2);
	pass(20, 1);
	assert_int_equal(all[1].presence, SENSOR_SILENT);
	all[1].presence = SENSOR_UP;
	pass(20, 2);
	assert_int_equal(count_said("heard again"), 0);
	assert_int_equal(count_said("\n"), 1);
}

static void test_ended(void **state)
{
	(void)state;
	fleet(2);
	all[1].final_heard = true;
	pass(60, 1);
	assert_int_equal(all[1].presence, SENSOR_ENDED);
	assert_int_equal(count_said("sensor lib-2: ended\n"), 1);
	assert_int_equal(count_said("\n"), 1);
}

/* The machine's own network: one line for all, and one question. */
static void test_all_fall_silent(void **state)
{
	(void)state;
	fleet(FLEET);
	pass(60, FLEET);
	pass(60, 0);
	assert_int_equal(count_said("40 sensors: silent since "), 1);
	assert_int_equal(count_said("lib-8 and 32 more\n"), 1);
	assert_int_equal(count_said("40 of 40 sensors fell silent within 10 s: is this machine's "
				    "network down?\n"),
			 1);
	assert_int_equal(count_said("\n"), 2);
	pass(60, FLEET);
	assert_int_equal(count_said("40 sensors: heard again after at most "), 1);
	pass(60, 0);
	assert_int_equal(count_said("network down?"), 2);
	assert_int_equal(count_said("\n"), 5);
}

/* Half of the fleet is not most of it; and sensors that went long ago do not count. */
static void test_half_of_the_fleet(void **state)
{
	(void)state;
	fleet(10);
	pass(30, 10);
	pass(30, 5);
	assert_int_equal(count_said("silent since "), 5);
	assert_int_equal(count_said("network down?"), 0);
	pass(30, 4);
	pass(30, 3);
	assert_int_equal(count_said("network down?"), 0);
	pass(30, 0);
	assert_int_equal(count_said("3 of 3 sensors fell silent"), 1);
}

static void test_never_heard(void **state)
{
	(void)state;
	fleet(3);
	all[1].heard_ns = all[2].heard_ns = 0;
	all[1].presence = all[2].presence = SENSOR_NEVER;
	all[0].presence = SENSOR_NEVER;
	pass(30, 1);
	assert_int_equal(count_said("\n"), 0);
	pass(60, 1);
	assert_int_equal(count_said("2 sensors not heard since the start: lib-2, lib-3\n"), 1);
	assert_int_equal(count_said("\n"), 1);
}

/* A sensor that a new sensors file has left out. */
static void test_unlisted(void **state)
{
	(void)state;
	fleet(2);
	pass(5, 2);
	all[1].listed = false;
	pass(60, 1);
	assert_int_equal(all[1].presence, SENSOR_NEVER);
	assert_int_equal(count_said("\n"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_falls_silent, begin, end),
		cmocka_unit_test_setup_teardown(test_links, begin, end),
		cmocka_unit_test_setup_teardown(test_connected_again, begin, end),
		cmocka_unit_test_setup_teardown(test_ended, begin, end),
		cmocka_unit_test_setup_teardown(test_all_fall_silent, begin, end),
		cmocka_unit_test_setup_teardown(test_half_of_the_fleet, begin, end),
		cmocka_unit_test_setup_teardown(test_never_heard, begin, end),
		cmocka_unit_test_setup_teardown(test_unlisted, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
