// SPDX-License-Identifier: GPL-2.0
/* links: web/api.o web/history.o board/json.o board/look.o board/read.o common/json.o
 * common/privsep.o common/unix_take.o common/unix_address.o common/log.o wire/channel.o */
/* The page's JSON, from states of the board. The test of the page reads it with a browser. */
#include "unit.h"

#include "web/api.h"
#include "web/history.h"

#define SECOND 1000000 /* us */
#define NOW (1000ULL * SECOND)

static struct board_sensor now[3], before[3];
static struct board_interface interface = { .sensor = 1, .radio = 1, .name = "wlan0" };
static struct board_states states;
static char *text;

static int begin(void **state)
{
	(void)state;
	memset(now, 0, sizeof(now));
	now[0] = (struct board_sensor){ .name = "a\"b",
					.group = "east",
					.id = 1,
					.runs = 1,
					.listed = 1,
					.presence = BOARD_UP };
	now[1] = (struct board_sensor){ .name = "two",
					.group = "east",
					.id = 2,
					.runs = 1,
					.listed = 1,
					.presence = BOARD_SILENT };
	now[2] = (struct board_sensor){ .name = "gone", .id = 3 };
	states = (struct board_states){ .now.sensors = now, .before.sensors = before };
	states.now.collector =
		(struct board_collector){ .time_us = NOW, .interval_ns = 2000000000, .sensors = 3 };
	states.before.collector = states.now.collector;
	memcpy(before, now, sizeof(now));
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(text);
	text = NULL;
	return 0;
}

static int written(int (*write)(FILE *, const struct web_look *, const char *), const char *arg,
		   const struct web_history *history)
{
	const struct web_look l = { .states = &states, .history = history };
	size_t len;
	FILE *f;
	int err;

	free(text);
	f = open_memstream(&text, &len);
	err = write(f, &l, arg);
	fclose(f);
	return err;
}

static void has(const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in: %s", part, text);
}

static void hasnt(const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' is in: %s", part, text);
}

static void test_rows(void **state)
{
	(void)state;
	now[0].totals.seen = 300;
	before[0].totals.seen = 100;
	now[0].lost_missing = 4;
	now[0].ahead_us = 5;
	now[0].behind_us = 12;
	now[0].totals.store = 25;
	now[0].totals.store_limit = 100;
	now[0].placed = BOARD_PLACED_X | BOARD_PLACED_Y;
	now[0].x = 1.25;
	now[0].y = -3;
	now[1].heard_us = 900ULL * SECOND + 7;
	assert_int_equal(written(api_fleet, NULL, NULL), 0);
	/* 100 frames a second, losing: trouble 4; 2 lost a second; no floor */
	has("[\"a\\\"b\",\"east\",4,1,0,100,2,300,4,-7,25,null,1.2,-3.0]");
	has("[\"two\",0,9,2,900,0,0,0,0,0,0]");
	hasnt("gone");
	has("\"troubles\": [\"fine\", \"awaited\", \"ended\", \"deaf\", \"losing\", \"link\"");
	has("\"presences\": [\"never\", \"up\", \"silent\", \"ended\"]");
	has("\"listed\": 2, \"up\": 1, \"unbalanced\": 0");
	has("\"seen\": 300, \"lost\": 4, \"seen_rate\": 100, \"lost_rate\": 2, \"newest_age\": "
	    "null");
	has("\"fill_rate\": null");
}

/* One that is not in the sensors file any more has a ledger. */
static void test_unlisted(void **state)
{
	(void)state;
	now[2].runs = 1;
	assert_int_equal(written(api_fleet, NULL, NULL), 0);
	has("[\"gone\",\"\",0,-1,0,");
	has("\"listed\": 2,");
}

static void test_newest(void **state)
{
	(void)state;
	now[0].newest_us = NOW - 3 * SECOND + 500;
	now[0].ahead_us = 500;
	now[1].newest_us = NOW - 8 * SECOND;
	assert_int_equal(written(api_fleet, NULL, NULL), 0);
	has("\"newest_age\": 3.0");
	now[0].newest_us = NOW + 60ULL * SECOND;
	assert_int_equal(written(api_fleet, NULL, NULL), 0);
	has("\"newest_age\": 0.0");
}

static void test_notes(void **state)
{
	(void)state;
	states.now.interfaces = &interface;
	states.now.collector.interfaces = 1;
	now[1].presence = BOARD_UP;
	strcpy(interface.state, "down");
	now[0].balance = -12;
	assert_int_equal(written(api_fleet, NULL, NULL), 0);
	has("{\"name\": \"a\\\"b\", \"balance\": -12}");
	has("{\"name\": \"two\", \"interface\": \"wlan0\", \"link\": \"down\"}");
	strcpy(interface.state, "");
	interface.rose_us = 100ULL * SECOND;
	assert_int_equal(written(api_fleet, NULL, NULL), 0);
	has("{\"name\": \"two\", \"interface\": \"wlan0\", \"link\": \"\", \"since\": 100}");
	now[1].twice_us = NOW - SECOND;
	assert_int_equal(written(api_fleet, NULL, NULL), 0);
	has("{\"name\": \"two\", \"since\": 999}");
}

static void test_sensor(void **state)
{
	(void)state;
	now[0].written = 50;
	assert_int_equal(written(api_sensor, "a\"b", NULL), 0);
	has("{\"time\": 1000.000000, \"lost\": 0, \"rates\": {\"seen\": 0, \"lost\": 0, "
	    "\"written\": 25, ");
	has("\"sensor\": {\"id\": 1, \"name\": \"a\\\"b\", \"group\": \"east\", \"state\": \"up\"");
	assert_int_equal(written(api_sensor, "none", NULL), -ENOENT);
	assert_int_equal(written(api_sensor, "gone", NULL), -ENOENT);
	assert_int_equal(written(api_sensor, NULL, NULL), -ENOENT);
	assert_int_equal(written(api_sensor, "", NULL), -ENOENT);
}

static void test_channels(void **state)
{
	struct board_channel c[2] = { { .mhz = 2412, .width = 20, .center = 2412 } };
	struct board_interface own = { .radio = 1 };
	struct web_history *h = history_new();

	(void)state;
	states.now.interfaces = states.before.interfaces = &own;
	states.now.collector.interfaces = states.before.collector.interfaces = 1;
	states.now.collector.channels = states.before.collector.channels = 1;
	c[1] = c[0];
	c[0].listened_ns = 500000000;
	c[0].frames = 9;
	states.now.channels = &c[0];
	states.before.channels = &c[1];
	history_take(h, &states);
	assert_int_equal(written(api_channels, "east", h), 0);
	has("{\"minute\": 960, \"not_shown\": 0, \"groups\": [\"east\"], \"channels\": [{");
	has("{\"channel\": \"1\", \"mhz\": 2412, \"width\": 20, \"share\": [null,");
	has(",null,250], \"frames\": [0,");
	has(",0,9]}");
	c[0].listened_ns = 9000000000;
	history_take(h, &states);
	assert_int_equal(written(api_channels, NULL, h), 0);
	has(",null,1000], \"frames\": [0,");
	assert_int_equal(written(api_channels, "west", h), -ENOENT);
	assert_int_equal(written(api_channels, "\xff\"<", h), -ENOENT);
	history_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rows, begin, end),
		cmocka_unit_test_setup_teardown(test_unlisted, begin, end),
		cmocka_unit_test_setup_teardown(test_newest, begin, end),
		cmocka_unit_test_setup_teardown(test_notes, begin, end),
		cmocka_unit_test_setup_teardown(test_sensor, begin, end),
		cmocka_unit_test_setup_teardown(test_channels, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
