// SPDX-License-Identifier: GPL-2.0
/* links: board/json.o board/look.o board/read.o common/json.o common/privsep.o common/unix_take.o
 * common/unix_address.o common/log.o wire/channel.o */
/* What the board's programs say of a sensor: its trouble, its losses, and its JSON. */
#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "board/json.h"
#include "common/json.h"

#define NOW_US 2000000000000000ULL
#define MINUTES_AGO(n) (NOW_US - (n)*60000000ULL)

static struct board_sensor sensors[2], earlier[2];
static struct board_interface interfaces[3];
static struct board_channel channels[2];
static struct board_module modules[2];
static struct board_refused refused[1];
static struct board_states s;

static int begin(void **state)
{
	(void)state;
	memset(sensors, 0, sizeof(sensors));
	memset(interfaces, 0, sizeof(interfaces));
	memset(channels, 0, sizeof(channels));
	memset(modules, 0, sizeof(modules));
	memset(refused, 0, sizeof(refused));
	for (int i = 0; i < 2; i++)
		sensors[i] = (struct board_sensor){
			.name = "lib-1", .id = i + 1, .listed = 1, .runs = 1, .presence = BOARD_UP
		};
	memcpy(earlier, sensors, sizeof(earlier));
	interfaces[1].sensor = interfaces[2].sensor = 1;
	s = (struct board_states){
		.now = { .collector = { .time_us = NOW_US,
					.begun_us = MINUTES_AGO(60),
					.sensors = 2,
					.interfaces = 3 },
			 .sensors = sensors,
			 .interfaces = interfaces,
			 .channels = channels,
			 .modules = modules,
			 .refused = refused },
		.before = { .collector = { .sensors = 2 }, .sensors = earlier },
	};
	return 0;
}

static void test_troubles(void **state)
{
	struct board_sensor *b = &sensors[1];

	(void)state;
	assert_int_equal(board_trouble(&s, 1), BOARD_FINE);
	interfaces[2].radio = 1;
	interfaces[2].rose_us = MINUTES_AGO(2);
	assert_int_equal(board_trouble(&s, 0), BOARD_FINE);
	assert_int_equal(board_trouble(&s, 1), BOARD_DEAF);
	b->totals.ring_full = 1;
	assert_int_equal(board_trouble(&s, 1), BOARD_LOSING);
	strcpy(interfaces[1].state, "no carrier");
	assert_int_equal(board_trouble(&s, 1), BOARD_LINK_DOWN);
	b->twice_us = NOW_US - 1;
	assert_int_equal(board_trouble(&s, 1), BOARD_SHARED_KEY);
	b->held = 1;
	assert_int_equal(board_trouble(&s, 1), BOARD_WAITS);
	b->presence = BOARD_NEVER;
	assert_int_equal(board_trouble(&s, 1), BOARD_NEVER_HEARD);
	s.now.collector.silent_ns = 3601000000000;
	assert_int_equal(board_trouble(&s, 1), BOARD_AWAITED);
	s.now.collector.begun_us = NOW_US + 1; /* the clock was set back */
	assert_int_equal(board_trouble(&s, 1), BOARD_NEVER_HEARD);
	b->presence = BOARD_SILENT;
	assert_int_equal(board_trouble(&s, 1), BOARD_IS_SILENT);
	b->balance = 1;
	assert_int_equal(board_trouble(&s, 1), BOARD_UNBALANCED);
	b->listed = 0;
	assert_int_equal(board_trouble(&s, 1), BOARD_FINE);
}

/* A radio is deaf a minute after its last frame, and after the collector's start. */
static void test_deaf(void **state)
{
	(void)state;
	interfaces[0].radio = 1;
	assert_true(board_is_deaf(&s.now, &interfaces[0]));
	interfaces[0].rose_us = NOW_US - BOARD_DEAF_US / 2;
	assert_false(board_is_deaf(&s.now, &interfaces[0]));
	interfaces[0].rose_us = 0;
	s.now.collector.begun_us = NOW_US - BOARD_DEAF_US / 2;
	assert_false(board_is_deaf(&s.now, &interfaces[0]));
	s.now.collector.begun_us = 0;
	sensors[0].presence = BOARD_SILENT;
	assert_false(board_is_deaf(&s.now, &interfaces[0]));
	interfaces[0].radio = 0; /* a wire may be idle */
	sensors[0].presence = BOARD_UP;
	assert_false(board_is_deaf(&s.now, &interfaces[0]));
}

static const char *address_of(const void *a, size_t len)
{
	static char out[BOARD_ADDRESS_TEXT_MAX];

	return board_address(out, a, len);
}

static void test_addresses(void **state)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

	(void)state;
	inet_pton(AF_INET, "192.0.2.7", &in.sin_addr);
	assert_string_equal(address_of(&in, sizeof(in)), "192.0.2.7");
	inet_pton(AF_INET6, "2001:db8::1", &in6.sin6_addr);
	assert_string_equal(address_of(&in6, sizeof(in6)), "2001:db8::1");
	inet_pton(AF_INET6, "::ffff:192.0.2.7", &in6.sin6_addr);
	assert_string_equal(address_of(&in6, sizeof(in6)), "192.0.2.7");
	assert_string_equal(address_of(&in6, sizeof(in)), "");
	in.sin_family = AF_UNIX;
	assert_string_equal(address_of(&in, sizeof(in)), "");
}

static char text[16384];

static const char *json_of(void (*print)(FILE *f))
{
	FILE *f = fmemopen(text, sizeof(text), "w");

	assert_non_null(f);
	print(f);
	fclose(f);
	return text;
}

static void print_all(FILE *f)
{
	board_json(f, &s, NULL, NULL);
}

#define SAYS(words) assert_non_null(strstr(json_of(print_all), words))

static void test_json(void **state)
{
	(void)state;
	s.now.collector.channels = 2;
	s.now.collector.modules = 2;
	s.now.collector.refused = 1;
	channels[0] = (struct board_channel){ .interface = 1,
					      .mhz = 2437,
					      .width = 20,
					      .center = 2437,
					      .dwells = 20,
					      .listened_ns = 20000000000,
					      .frames = 200,
					      .switch_ns = 40000 };
	channels[1].interface = 2;
	interfaces[1].begin_ns = 1;
	interfaces[1].end_ns = 60000000001;
	interfaces[2].other_dwells = 7;
	strcpy(interfaces[2].state, "down");
	modules[0].sensor = 0;
	strcpy(modules[0].name, "worms");
	modules[1].sensor = 1;
	sensors[1].placed = BOARD_PLACED_FLOOR | BOARD_PLACED_X;
	sensors[1].floor = -2;
	sensors[1].x = 12.5;
	refused[0] = (struct board_refused){ .reason = BOARD_UNLISTED, .key = "K=", .count = 3 };
	SAYS("\"coverage\": {\"from_ns\": 0, \"to_ns\": 0, \"other_dwells\": 0, \"channels\": "
	     "[{\"channel\": \"6\", \"mhz\": 2437, \"width\": 20, \"center\": 2437, \"share\": "
	     "0.333333, \"dwells\": 20, \"listened_ns\": 20000000000, \"frames\": 200, "
	     "\"marked\": 0, \"switch_ns\": 40000, \"failures\": 0}]}");
	SAYS("\"other_dwells\": 7");
	SAYS("\"link\": \"down\"");
	SAYS("\"floor\": -2, \"x\": 12.500, \"heard\": null");
	SAYS("\"modules\": [{\"name\": \"worms\", \"events\": 0, \"last\": null}]");
	SAYS("\"refused\": [{\"reason\": \"unlisted\", \"name\": \"\", \"key\": \"K=\"");
	SAYS("\"trouble\": \"link\"");
}

static const char *given;

static void print_text(FILE *f)
{
	json_string(f, given);
}

/* Whatever the text, JSON has valid UTF-8. */
static void test_texts(void **state)
{
	static const struct {
		const char *text, *json;
	} all[] = {
		{ "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "\x01\x7f", "\"\\u0001\\u007f\"" },
		{ "Z\xc3\xbcrich", "\"Z\xc3\xbcrich\"" },
		{ "\xf0\x9f\x90\x95", "\"\xf0\x9f\x90\x95\"" },
		{ "\xfc", "\"\\ufffd\"" },
		{ "\xc3", "\"\\ufffd\"" },
		{ "\xc0\xaf", "\"\\ufffd\\ufffd\"" },			    /* overlong */
		{ "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"" },	    /* surrogate */
		{ "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" }, /* too large */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		given = all[i].text;
		assert_string_equal(json_of(print_text), all[i].json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_troubles, begin),
		cmocka_unit_test_setup(test_deaf, begin),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test_setup(test_json, begin),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests_name("board_look", tests, NULL, NULL);
}
