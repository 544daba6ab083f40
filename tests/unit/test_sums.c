// SPDX-License-Identifier: GPL-2.0
/* links: web/sums.o board/look.o board/read.o common/privsep.o common/unix_take.o
 * common/unix_address.o common/log.o wire/channel.o */
/* Sums of channels and modules over sensors only rise, whatever each sensor's counters do. */
#include "unit.h"

#include "web/sums.h"
#include "wire/channel.h"

/* A state of two sensors of a group, each with one interface that listens to two channels. */
struct fleet {
	struct board_state state;
	struct board_sensor sensors[2];
	struct board_interface interfaces[2];
	struct board_channel channels[4];
	struct board_module modules[2];
};

static void fleet(struct fleet *f, uint64_t run, uint64_t frames, uint64_t events)
{
	*f = (struct fleet){ 0 };
	f->state.collector = (struct board_collector){
		.begun_us = 1, .sensors = 2, .interfaces = 2, .channels = 4, .modules = 2
	};
	f->state.sensors = f->sensors;
	f->state.interfaces = f->interfaces;
	f->state.channels = f->channels;
	f->state.modules = f->modules;
	for (uint32_t i = 0; i < 2; i++) {
		f->sensors[i] = (struct board_sensor){ .id = i + 1, .run = run, .group = "hall" };
		f->interfaces[i].sensor = i;
		f->modules[i] = (struct board_module){ .sensor = i, .events = events };
		strcpy(f->modules[i].name, i ? "worm" : "count");
		for (uint32_t n = 0; n < 2; n++)
			f->channels[2 * i + n] = (struct board_channel){ .interface = i,
									 .mhz = 2412 + 25 * n,
									 .width = 20,
									 .center = 2412 + 25 * n,
									 .listened_ns = frames * 10,
									 .frames = frames };
	}
}

static struct sums *sums;
static struct fleet before, now;

static int set_up(void **state)
{
	(void)state;
	sums = calloc(1, sizeof(*sums));
	memset(&before, 0, sizeof(before));
	return !sums;
}

static int tear_down(void **state)
{
	(void)state;
	free(sums);
	return 0;
}

static void take(uint64_t run, uint64_t frames, uint64_t events)
{
	fleet(&now, run, frames, events);
	sums_take(sums, &now.state, &before.state);
	fleet(&before, run, frames, events);
}

static void test_rises_are_added(void **state)
{
	(void)state;
	take(1, 100, 7);
	take(1, 130, 9);
	assert_int_equal(sums->channel_count, 2);
	assert_int_equal(sums->channels[0].frames, 260);
	assert_int_equal(sums->channels[1].listened_ns, 2600);
	assert_string_equal(sums_group(sums, sums->channels[0].key), "hall");
	assert_int_equal(sums_radio(sums->channels[1].key).mhz, 2437);
	assert_int_equal(sums_radio(sums->channels[1].key).width, 20);
	assert_int_equal(sums->module_count, 2);
	assert_string_equal(sums->modules[0].name, "count");
	assert_int_equal(sums->modules[1].events, 9);
}

static void test_a_new_run_begins_at_zero(void **state)
{
	(void)state;
	take(1, 100, 7);
	take(2, 5, 8);
	assert_int_equal(sums->channels[0].frames, 210);
	take(3, 6, 8); /* more than in the run before */
	assert_int_equal(sums->channels[0].frames, 222);
	assert_int_equal(sums->modules[0].events, 8); /* of all runs */
}

static void test_a_new_collector_begins_at_zero(void **state)
{
	(void)state;
	take(1, 100, 7);
	before.state.collector.begun_us = 0; /* it was another one */
	take(1, 110, 9);
	assert_int_equal(sums->channels[0].frames, 420);
	assert_int_equal(sums->modules[0].events, 16);
}

static void test_names_are_limited(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < SUMS_MODULES_MAX; n++) {
		fleet(&now, 1, 0, 1);
		snprintf(now.modules[0].name, sizeof(now.modules[0].name), "m%u", n * 7919);
		sums_take(sums, &now.state, &before.state);
	}
	assert_int_equal(sums->module_count, SUMS_MODULES_MAX);
	for (uint32_t n = 1; n < SUMS_MODULES_MAX; n++)
		assert_true(strcmp(sums->modules[n - 1].name, sums->modules[n].name) < 0);
	assert_int_equal(sums->other_events, 1); /* "worm" is among them, the last name is not */
}

static void test_channels_are_limited(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < SUMS_CHANNELS_MAX; n++) {
		fleet(&now, 1, 1, 0);
		now.channels[0].mhz = 10000 + n;
		sums_take(sums, &now.state, &before.state);
	}
	assert_int_equal(sums->channel_count, SUMS_CHANNELS_MAX);
	assert_int_equal(sums->other_channels.frames, 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_rises_are_added),
		TEST(test_a_new_run_begins_at_zero),
		TEST(test_a_new_collector_begins_at_zero),
		TEST(test_names_are_limited),
		TEST(test_channels_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
