// SPDX-License-Identifier: GPL-2.0
/* Log lines about refused senders: each is logged, at a limited rate, and a flood of one kind hides
 * no other.
 *
 * links: collector/network/refusals.o collector/network/refused_list.o
 * collector/network/wrong_key.o collector/network/log_limit.o wire/keys.o */
#include "unit.h"

#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>

#include "collector/network/refusals.h"
#include "collector/network/wrong_key.h"
#include "said.h"
#include "wire/request.h"

#define SECOND 1000000000ULL
#define A_MINUTE (int)(LOG_LIMIT_BURST + 60 * SECOND / LOG_LIMIT_EVERY_NS)

static struct refusals *r;
static struct wrong_key *w;
static uint64_t now_ns;

static int begin(void **state)
{
	(void)state;
	r = calloc(1, sizeof(*r));
	w = calloc(1, sizeof(*w));
	now_ns = 1000 * SECOND;
	said_begin();
	return 0;
}

static int end(void **state)
{
	(void)state;
	said_end();
	free(r);
	free(w);
	return 0;
}

static struct sockaddr_storage address(uint32_t ip)
{
	struct sockaddr_storage a = { 0 };
	struct sockaddr_in *in = (struct sockaddr_in *)&a;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(ip);
	in->sin_port = htons(1024 + randombytes_uniform(60000));
	return a;
}

static void key_from(const uint8_t key[KEY_LEN], uint32_t ip)
{
	struct sockaddr_storage from = address(ip);

	refusals_key(r, key, (struct sockaddr *)&from, now_ns);
}

static void made_up_keys(int count, uint32_t ip)
{
	uint8_t key[KEY_LEN];

	while (count--) {
		randombytes_buf(key, sizeof(key));
		key_from(key, ip);
	}
}

static void a_line_is_said_once_a_minute(void **state)
{
	uint8_t key[KEY_LEN] = { 1 };

	(void)state;
	for (int i = 0; i < 150; i++, now_ns += SECOND)
		key_from(key, 1);
	assert_int_equal(count_said("is not in --sensors"), 3);
	assert_int_equal(count_said("left out"), 0);
}

/* An operator sets up a sensor, and looks for its key in the log. */
static void a_burst_hides_nobody(void **state)
{
	uint8_t key[KEY_LEN] = { 7 };
	char named[KEY_TEXT_LEN];
	int seconds = 0;

	(void)state;
	key_to_text(named, key);
	made_up_keys(40, 1);
	assert_int_equal(count_said("is not in --sensors"), LOG_LIMIT_BURST);
	while (!count_said(named) && seconds++ < 60) {
		key_from(key, 1); /* the same address: behind one NAT */
		now_ns += SECOND;
	}
	assert_in_range(seconds, 1, 9);
	assert_int_equal(count_said("(lines left out before this one: 32)"), 1);
}

static void a_flood_from_elsewhere_hides_nobody(void **state)
{
	uint8_t key[KEY_LEN] = { 7 };
	char named[KEY_TEXT_LEN];

	(void)state;
	key_to_text(named, key);
	for (int i = 0; i < 4 * 600; i++, now_ns += SECOND / 4) {
		made_up_keys(50, i % 3);
		if (i % 16 == 0)
			key_from(key, 77);
	}
	/* One line in four, so that missing all of 80 is practically impossible. */
	assert_in_range(count_said(named), 1, 10);
}

static void a_flood_makes_few_lines(void **state)
{
	int before = 0;

	(void)state;
	for (int minute = 0; minute < 5; minute++) {
		int said_now;

		for (int i = 0; i < 600; i++, now_ns += SECOND / 10)
			made_up_keys(20, randombytes_uniform(1000));
		said_now = count_said("is not in --sensors");
		assert_in_range(said_now - before, 1, A_MINUTE);
		before = said_now;
	}
	assert_int_equal(A_MINUTE, 16);
}

/* Only the holder of a sensor's key causes these. */
static void keys_that_are_made_up_hide_no_sensor(void **state)
{
	struct sockaddr_storage one = address(5), two = address(6);

	(void)state;
	made_up_keys(1000, 1);
	refusals_busy(r, "room-1", (struct sockaddr *)&one, (struct sockaddr *)&two, false, now_ns);
	assert_int_equal(count_said("sensor room-1: two machines use its key"), 1);
	refusals_twice(r, "room-2", (struct sockaddr *)&one, (struct sockaddr *)&two, now_ns);
	assert_int_equal(count_said("sensor room-2: two processes use its key in turn"), 1);
	refusals_version(r, "room-3", 1, (struct sockaddr *)&one, now_ns);
	assert_int_equal(count_said("sensor room-3 at 0.0.0.5:"), 1);
}

/* A sensor with another collector's key, during a flood of junk. */
static void junk_hides_no_wrong_key(void **state)
{
	(void)state;
	for (int i = 0; i < 400; i++, now_ns += SECOND / 10) {
		struct sockaddr_storage sensor = address(0x0a000001), junk = address(0x0a000002),
					data = address(0x0a000003);

		if (i % 10 == 0)
			wrong_key_datagram(w, REQUEST_LEN, (struct sockaddr *)&sensor, now_ns);
		wrong_key_datagram(w, REQUEST_LEN, (struct sockaddr *)&junk, now_ns);
		wrong_key_datagram(w, 700, (struct sockaddr *)&data, now_ns);
	}
	assert_int_equal(count_said("10.0.0.1:"), 1);
	assert_int_equal(count_said("10.0.0.2:"), 1);
	assert_int_equal(count_said("10.0.0.3:"), 0); /* no sensor asks for a session so */
}

/* Anybody can send from forged addresses. */
static void forged_addresses_hide_no_wrong_key(void **state)
{
	struct sockaddr_storage sensor = address(0x0a000001);

	(void)state;
	for (int i = 0; i < 100 * 60; i++, now_ns += SECOND / 100) {
		struct sockaddr_storage junk = address(0x0b000000 + randombytes_uniform(1 << 24));

		if (i % 33 == 0)
			wrong_key_datagram(w, REQUEST_LEN, (struct sockaddr *)&sensor, now_ns);
		wrong_key_datagram(w, REQUEST_LEN, (struct sockaddr *)&junk, now_ns);
	}
	assert_int_equal(count_said("10.0.0.1:"), 1);
}

/* A sensor with a wrong clock is first unknown, and then gets its session. */
static void a_wrong_clock_is_no_wrong_key(void **state)
{
	struct sockaddr_storage sensor = address(0x0a000001);

	(void)state;
	for (int i = 0; i < 60; i++, now_ns += SECOND) {
		wrong_key_datagram(w, REQUEST_LEN, (struct sockaddr *)&sensor, now_ns);
		wrong_key_datagram(w, REQUEST_LEN, (struct sockaddr *)&sensor, now_ns);
		wrong_key_proved(w, (struct sockaddr *)&sensor);
	}
	assert_int_equal(count_said("10.0.0.1:"), 0);
}

/* A copied key of a one-way sensor, and a sender with a wrong key. */
static void what_a_refused_one_way_sensor_sends_is_expected(void **state)
{
	struct sockaddr_storage one = address(0x0a000001), two = address(0x0a000002),
				other = address(0x0a000003);

	(void)state;
	refusals_busy(r, "room-1", (struct sockaddr *)&one, (struct sockaddr *)&two, true, now_ns);
	wrong_key_expect(w, (struct sockaddr *)&one, now_ns);
	wrong_key_expect(w, (struct sockaddr *)&two, now_ns);
	assert_int_equal(count_said("and loses its frames"), 1);
	for (int i = 0; i < 120; i++, now_ns += SECOND) {
		wrong_key_datagram(w, REQUEST_LEN, (struct sockaddr *)&one, now_ns);
		wrong_key_datagram(w, REQUEST_LEN, (struct sockaddr *)&two, now_ns);
		wrong_key_datagram(w, REQUEST_LEN, (struct sockaddr *)&other, now_ns);
	}
	assert_int_equal(count_said("10.0.0.3:"), 2);
	assert_int_equal(count_said("under no key"), 2);
	now_ns += WRONG_KEY_EXPECTED_NS;
	for (int i = 0; i < 20; i++, now_ns += SECOND)
		wrong_key_datagram(w, REQUEST_LEN, (struct sockaddr *)&two, now_ns);
	assert_int_equal(count_said("under no key"), 3);
}

#define T(test) cmocka_unit_test_setup_teardown(test, begin, end)

/* The list has the newest keys, each once. */
static void the_list_has_the_newest(void **state)
{
	uint8_t key[KEY_LEN] = { 0 };
	unsigned int found = 0;

	(void)state;
	for (int i = 0; i < BOARD_REFUSED_MAX + 7; i++) {
		key[0] = i;
		key_from(key, i);
	}
	assert_int_equal(r->list.count, BOARD_REFUSED_MAX);
	for (int round = 0; round < 3; round++)
		key_from(key, 99);
	assert_int_equal(r->list.count, BOARD_REFUSED_MAX);
	for (int i = 0; i < BOARD_REFUSED_MAX; i++) {
		const struct board_refused *b = &r->list.of[i];

		assert_int_equal(b->reason, BOARD_UNLISTED);
		assert_true(b->first_us <= b->last_us && b->count == (b->count > 1 ? 4 : 1));
		found += b->count == 4;
	}
	assert_int_equal(found, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_line_is_said_once_a_minute),
		T(a_burst_hides_nobody),
		T(a_flood_from_elsewhere_hides_nobody),
		T(a_flood_makes_few_lines),
		T(keys_that_are_made_up_hide_no_sensor),
		T(junk_hides_no_wrong_key),
		T(forged_addresses_hide_no_wrong_key),
		T(a_wrong_clock_is_no_wrong_key),
		T(what_a_refused_one_way_sensor_sends_is_expected),
		T(the_list_has_the_newest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
