// SPDX-License-Identifier: GPL-2.0
/* links: web/history.o board/look.o board/read.o common/privsep.o common/unix_take.o
 * common/unix_address.o common/log.o */
/* The minutes of channels and of the disk, from states of the board. */
#include "unit.h"

#include "web/history.h"

#define SECOND_NS 1000000000ULL
#define SENSORS 3
#define CHANNELS 2 /* of each sensor's interface */

static struct web_history *history;
static struct board_sensor sensors[2][SENSORS];
static struct board_interface interfaces[2][SENSORS];
static struct board_channel channels[2][SENSORS * CHANNELS];
static struct board_states states;

static void set(struct board_state *s, int which)
{
	*s = (struct board_state){ .sensors = sensors[which],
				   .interfaces = interfaces[which],
				   .channels = channels[which] };
	s->collector.sensors = s->collector.interfaces = SENSORS;
	s->collector.channels = SENSORS * CHANNELS;
	s->collector.interval_ns = SECOND_NS;
	s->collector.disk_size = 1000000;
	s->collector.disk_free = 600000;
}

/* Sensors a and b in the group east, c in none. Each is on channel 1 and 6. */
static int begin(void **state)
{
	static const char *const groups[SENSORS] = { "east", "east", "" };
	static const uint16_t mhz[CHANNELS] = { 2437, 2412 };

	(void)state;
	history = history_new();
	assert_non_null(history);
	memset(sensors, 0, sizeof(sensors));
	memset(channels, 0, sizeof(channels));
	for (uint32_t i = 0; i < SENSORS; i++) {
		sensors[0][i] = (struct board_sensor){
			.id = i + 1, .presence = BOARD_UP, .runs = 1, .name = { 'a' + i }
		};
		strcpy(sensors[0][i].group, groups[i]);
		interfaces[0][i] = (struct board_interface){ .sensor = i };
		for (int c = 0; c < CHANNELS; c++)
			channels[0][i * CHANNELS + c] = (struct board_channel){
				.interface = i, .mhz = mhz[c], .width = 20, .center = mhz[c]
			};
	}
	memcpy(sensors[1], sensors[0], sizeof(sensors[0]));
	memcpy(interfaces[1], interfaces[0], sizeof(interfaces[0]));
	memcpy(channels[1], channels[0], sizeof(channels[0]));
	set(&states.now, 0);
	set(&states.before, 1);
	return 0;
}

static int end(void **state)
{
	(void)state;
	history_free(history);
	return 0;
}

/* A state at a second: the channel of each sensor has been listened to for so long since the one
 * before, with a frame each. */
static void second(uint64_t s, uint64_t listened_ns)
{
	states.now.collector.time_us = s * 1000000;
	memcpy(channels[1], channels[0], sizeof(channels[0]));
	for (int i = 0; i < SENSORS * CHANNELS; i++) {
		channels[0][i].listened_ns += listened_ns;
		channels[0][i].frames++;
	}
	history_take(history, &states);
}

static struct history_view view(const char *group)
{
	struct history_view v;

	assert_int_equal(history_view(&v, history, group), 0);
	return v;
}

static void test_minutes(void **state)
{
	struct history_view v;

	(void)state;
	for (uint64_t s = 6000; s < 6090; s++)
		second(s, SECOND_NS / 4);
	v = view("east");
	assert_int_equal(v.minute, 101);
	assert_int_equal(v.count, CHANNELS);
	assert_int_equal(v.channels[0].channel.mhz, 2412);
	assert_int_equal(v.channels[1].channel.mhz, 2437);
	assert_int_equal(v.sensor_ns[59], 2 * 30 * SECOND_NS);
	assert_int_equal(v.sensor_ns[58], 2 * 60 * SECOND_NS);
	assert_int_equal(v.sensor_ns[57], 0);
	assert_int_equal(v.channels[0].minutes[59].listened_ns, 2 * 30 * SECOND_NS / 4);
	assert_int_equal(v.channels[0].minutes[58].frames, 2 * 60);
	free(v.channels);
	v = view(NULL);
	assert_int_equal(v.count, CHANNELS);
	assert_int_equal(v.sensor_ns[59], 3 * 30 * SECOND_NS);
	assert_int_equal(v.channels[1].minutes[59].frames, 3 * 30);
	free(v.channels);
}

static void test_groups(void **state)
{
	struct history_view v;

	(void)state;
	assert_int_equal(history_view(&v, history, ""), -ENOENT);
	second(60, 1);
	assert_string_equal(history_group(history, 0), "east");
	assert_string_equal(history_group(history, 1), "");
	assert_null(history_group(history, 2));
	assert_int_equal(history_view(&v, history, "west"), -ENOENT);
	v = view("");
	assert_int_equal(v.sensor_ns[59], SECOND_NS);
	free(v.channels);
}

/* What fell out of the hour is forgotten, also in memory: names come and go. */
static void test_an_hour(void **state)
{
	struct history_view v;

	(void)state;
	for (int i = 0; i < 3 * HISTORY_GROUPS_MAX; i++) {
		snprintf(sensors[0][0].group, BOARD_NAME_MAX, "g%d", i);
		second(60 * (1 + i), SECOND_NS);
	}
	assert_int_equal(history_view(&v, history, "g0"), -ENOENT);
	v = view(sensors[0][0].group);
	assert_int_equal(v.sensor_ns[59], SECOND_NS);
	assert_int_equal(v.sensor_ns[58], 0);
	assert_int_equal(v.not_shown, 0);
	free(v.channels);
	second(60 * 3 * HISTORY_GROUPS_MAX + 100 * 60, 1);
	v = view(NULL);
	assert_int_equal(v.sensor_ns[0] + v.sensor_ns[58], 0);
	assert_int_equal(v.sensor_ns[59], 3 * SECOND_NS);
	free(v.channels);
}

/* Channels without room are counted, and their sensor's time stays right. */
static void test_room(void **state)
{
	struct history_view v;

	(void)state;
	for (int i = 0; i < HISTORY_SERIES_MAX; i++) {
		for (int n = 0; n < SENSORS * CHANNELS; n++)
			channels[0][n].mhz = n * 10000 + i;
		second(60, 1);
	}
	v = view(NULL);
	assert_true(v.count > 1000 && v.count <= HISTORY_SERIES_MAX);
	assert_true(v.not_shown > 0);
	free(v.channels);
}

static void test_clock_set_back(void **state)
{
	struct history_view v;

	(void)state;
	second(36000, 1);
	second(36000 - 600, 1);
	v = view(NULL);
	assert_int_equal(v.minute, 600);
	assert_int_equal(v.sensor_ns[59], 2 * 3 * SECOND_NS);
	free(v.channels);
	second(6000, 1);
	v = view(NULL);
	assert_int_equal(v.minute, 100);
	assert_int_equal(v.sensor_ns[59], 3 * SECOND_NS);
	assert_int_equal(v.sensor_ns[58], 0);
	free(v.channels);
}

/* Neither a new run, nor a sensor that is not heard, nor a counter that fell is time or frames. */
static void test_gaps(void **state)
{
	struct history_view v;

	(void)state;
	sensors[0][0].runs = 2;
	sensors[0][1].presence = BOARD_SILENT;
	second(60, 5);
	v = view(NULL);
	assert_int_equal(v.sensor_ns[59], SECOND_NS);
	free(v.channels);
	channels[0][4].listened_ns = channels[0][5].listened_ns = 0;
	second(61, 0);
	v = view(NULL);
	assert_int_equal(v.channels[0].minutes[59].listened_ns, 5);
	free(v.channels);
}

static void test_fill_rate(void **state)
{
	double rate;

	(void)state;
	assert_false(history_fill_rate(history, &rate));
	for (uint64_t s = 60; s < 119; s++)
		second(s, 0);
	assert_false(history_fill_rate(history, &rate));
	states.now.collector.disk_free -= 6000;
	second(120, 0);
	assert_true(history_fill_rate(history, &rate));
	assert_true(rate == 100);
	states.now.collector.disk_free += 12000;
	second(180, 0);
	assert_true(history_fill_rate(history, &rate));
	assert_true(rate == -50);
	states.now.collector.disk_size++;
	second(181, 0);
	assert_false(history_fill_rate(history, &rate));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_minutes, begin, end),
		cmocka_unit_test_setup_teardown(test_groups, begin, end),
		cmocka_unit_test_setup_teardown(test_an_hour, begin, end),
		cmocka_unit_test_setup_teardown(test_room, begin, end),
		cmocka_unit_test_setup_teardown(test_clock_set_back, begin, end),
		cmocka_unit_test_setup_teardown(test_gaps, begin, end),
		cmocka_unit_test_setup_teardown(test_fill_rate, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
