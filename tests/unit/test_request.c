// SPDX-License-Identifier: GPL-2.0
/* Requests for the time and a cookie, handshake messages under a cookie, their answers, and
 * malformed ones.
 *
 * links: wire/request.o wire/tryst.o wire/derive.o wire/shroud.o wire/table.o wire/keys.o */
#include "unit.h"

#include <sodium.h>

#include "wire/bytes.h"
#include "wire/request.h"

#define INTERVAL 77
#define TIME_NS 1234567890123ULL
#define COOKIE 0x1122334455667788ULL

static struct keypair s, c, other;
static uint8_t P[KEY_LEN];
static struct request_keys keys;
static struct request_asked asked;
static struct request q;
static uint64_t date;
static const struct request_answer said = { .time_ns = TIME_NS, .cookie = COOKIE };
static struct request_answer got;
static uint8_t request[SHROUD_DATAGRAM_MAX], answer[SHROUD_DATAGRAM_MAX];

static int begin(void **state)
{
	struct keypair *all[] = { &s, &c, &other };

	(void)state;
	for (int i = 0; i < 3; i++) {
		key_generate(all[i]->secret);
		if (key_public(all[i]->public, all[i]->secret))
			return -1;
	}
	request_keys_init(&keys, c.public);
	return tryst_pair(P, &s, c.public, true, NULL);
}

static void ask(void)
{
	assert_int_equal(request_cookie(&asked, request,
					&(struct request_from){ &s, c.public, 5, INTERVAL }, P),
			 0);
}

/* As from a sensor that does not know the time, or speaks version 1. */
static void ask_undated(void)
{
	assert_int_equal(request_cookie(&asked, request,
					&(struct request_from){ &s, c.public, 5, REQUEST_UNDATED },
					P),
			 0);
}

static void a_request_and_its_answer(void **state)
{
	size_t len;

	(void)state;
	ask();
	assert_true(request_plausible(&keys, request, REQUEST_LEN, INTERVAL, &date));
	assert_int_equal(request_open(&q, &c, request, REQUEST_LEN, INTERVAL), 0);
	assert_int_equal(q.version, TRYST_VERSION);
	assert_int_equal(q.kind, REQUEST_COOKIE);
	assert_memory_equal(q.sensor, s.public, KEY_LEN);
	assert_true(request_proved(&q, P));
	len = request_answer(answer, &q, &said);
	assert_int_equal(len, REQUEST_LEN);
	assert_int_equal(request_answered(&asked, &got, answer, len), 0);
	assert_true(got.time_ns == TIME_NS && got.cookie == COOKIE);
	assert_true(sodium_is_zero(asked.key, sizeof(asked.key)));
	assert_int_equal(request_answered(&asked, &got, answer, len), -EBADMSG);
}

/* Two answers to one request are sealed under two keys: a holder of both learns nothing about
 * either. */
static void each_answer_has_a_key_of_its_own(void **state)
{
	static const struct request_answer later = { .time_ns = TIME_NS + 1, .cookie = COOKIE };
	uint8_t second[SHROUD_DATAGRAM_MAX];
	size_t len;
	int same = 0;

	(void)state;
	ask();
	assert_int_equal(request_open(&q, &c, request, REQUEST_LEN, INTERVAL), 0);
	len = request_answer(answer, &q, &said);
	assert_int_equal(request_answer(second, &q, &later), len);
	assert_memory_not_equal(answer, second, 8);
	assert_memory_not_equal(answer + 8, second + 8, DERIVE_FRESH_LEN);
	for (size_t i = 24; i < len; i++) /* plain bytes, the same in both except two */
		same += answer[i] == second[i];
	assert_in_range(same, 0, len / 16);
	assert_int_equal(request_answered(&asked, &got, second, len), 0);
	assert_true(got.time_ns == TIME_NS + 1);
}

static void altered_bytes(void **state)
{
	size_t len;

	(void)state;
	ask();
	for (size_t i = 0; i < REQUEST_LEN; i++) {
		request[i] ^= 1;
		assert_int_equal(request_plausible(&keys, request, REQUEST_LEN, INTERVAL, &date),
				 i >= 24);
		assert_int_equal(request_open(&q, &c, request, REQUEST_LEN, INTERVAL),
				 i >= 16 && i < 24 ? 0 : -EBADMSG);
		request[i] ^= 1;
		assert_false(request_plausible(&keys, request, i, INTERVAL, &date));
		assert_int_equal(request_open(&q, &c, request, i, INTERVAL), -EBADMSG);
	}
	assert_int_equal(request_open(&q, &c, request, REQUEST_LEN, INTERVAL), 0);
	len = request_answer(answer, &q, &said);
	for (size_t i = 0; i < len; i++) {
		answer[i] ^= 1;
		assert_int_equal(request_answered(&asked, &got, answer, len), -EBADMSG);
		answer[i] ^= 1;
		assert_int_equal(request_answered(&asked, &got, answer, i), -EBADMSG);
	}
	assert_int_equal(request_answered(&asked, &got, answer, len), 0);
}

static void whose_it_is_must_be_proved(void **state)
{
	uint8_t psk[KEY_LEN] = { 1 }, wrong[KEY_LEN];

	(void)state;
	assert_int_equal(tryst_pair(wrong, &s, c.public, true, psk), 0);
	assert_int_equal(request_cookie(&asked, request,
					&(struct request_from){ &s, c.public, 5, INTERVAL }, wrong),
			 0);
	assert_int_equal(request_open(&q, &c, request, REQUEST_LEN, INTERVAL), 0);
	assert_false(request_proved(&q, P));
	assert_true(request_proved(&q, wrong));
}

static void another_collector(void **state)
{
	struct request_keys other_keys;

	(void)state;
	request_keys_init(&other_keys, other.public);
	ask();
	assert_false(request_plausible(&other_keys, request, REQUEST_LEN, INTERVAL, &date));
	assert_int_equal(request_open(&q, &other, request, REQUEST_LEN, INTERVAL), -EBADMSG);
}

/* A recording is useless some minutes later, and its MAC cannot be recomputed: the date is
 * sealed. */
static void a_request_has_a_date(void **state)
{
	uint8_t newer[SHROUD_DATAGRAM_MAX], mac_input[24];

	(void)state;
	ask();
	for (uint64_t present = INTERVAL - 5; present <= INTERVAL + 5; present++)
		assert_int_equal(request_plausible(&keys, request, REQUEST_LEN, present, &date),
				 present >= INTERVAL - 1 && present <= INTERVAL + 1);
	assert_true(request_plausible(&keys, request, REQUEST_LEN, INTERVAL + 1, &date));
	assert_int_equal(date, INTERVAL);
	memcpy(newer, request, REQUEST_LEN);
	memcpy(mac_input, request, 16);
	store_be(mac_input + 16, INTERVAL + 2, 8);
	crypto_shorthash(newer + 16, mac_input, sizeof(mac_input), keys.mac);
	assert_true(request_plausible(&keys, newer, REQUEST_LEN, INTERVAL + 2, &date));
	assert_int_equal(request_open(&q, &c, newer, REQUEST_LEN, date), -EBADMSG);
	crypto_shorthash(newer + 16, mac_input, 16, keys.mac);
	assert_true(request_plausible(&keys, newer, REQUEST_LEN, INTERVAL + 2, &date));
	assert_int_equal(date, REQUEST_UNDATED);
	assert_int_equal(request_open(&q, &c, newer, REQUEST_LEN, date), -EBADMSG);
}

/* A request with a date has all its bytes, so junk of another length costs one SipHash. */
static void a_date_needs_all_bytes(void **state)
{
	(void)state;
	ask();
	assert_false(request_plausible(&keys, request, REQUEST_LEN - 1, INTERVAL, &date));
	ask_undated();
	for (size_t i = 0; i <= REQUEST_LEN; i++)
		assert_int_equal(request_plausible(&keys, request, i, INTERVAL, &date),
				 i >= REQUEST_MIN);
}

static void a_request_without_a_date(void **state)
{
	(void)state;
	ask_undated();
	for (uint64_t present = 0; present < 5; present++) {
		assert_true(request_plausible(&keys, request, REQUEST_LEN, present, &date));
		assert_int_equal(date, REQUEST_UNDATED);
	}
	assert_int_equal(request_open(&q, &c, request, REQUEST_LEN, date), 0);
	assert_true(request_proved(&q, P));
}

/* An answer belongs to one request. */
static void another_request(void **state)
{
	uint8_t second[SHROUD_DATAGRAM_MAX];
	struct request_asked another;
	size_t len;

	(void)state;
	ask();
	assert_int_equal(request_cookie(&another, second,
					&(struct request_from){ &s, c.public, 5, INTERVAL }, P),
			 0);
	assert_memory_not_equal(request, second, 16);
	assert_memory_not_equal(request + 24, second + 24, 32);
	assert_int_equal(request_open(&q, &c, second, REQUEST_LEN, INTERVAL), 0);
	len = request_answer(answer, &q, &said);
	assert_int_equal(request_answered(&asked, &got, answer, len), -EBADMSG);
	assert_int_equal(request_answered(&another, &got, answer, len), 0);
}

static void a_set_up_under_a_cookie(void **state)
{
	struct tryst_hello hello = { .run = 77, .time_ns = 5, .window = 1024, .info_len = 1000 };
	struct tryst_hello accepted;
	uint8_t m1[SHROUD_DATAGRAM_MAX];
	struct tryst_asked waits;

	(void)state;
	memset(hello.info, 'x', 1000);
	memset(hello.instance, 7, sizeof(hello.instance));
	assert_int_equal(tryst_init(&waits, m1, &(struct tryst_keys){ &s, c.public, P }, COOKIE,
				    &hello, REQUEST_INIT_LEN),
			 REQUEST_INIT_LEN);
	assert_int_equal(request_set_up(request, m1,
					&(struct request_from){ &s, c.public, 5, INTERVAL }),
			 0);
	assert_true(request_plausible(&keys, request, REQUEST_LEN, INTERVAL, &date));
	assert_int_equal(request_open(&q, &c, request, REQUEST_LEN, INTERVAL), 0);
	assert_int_equal(q.kind, REQUEST_SET_UP);
	assert_memory_equal(q.sensor, s.public, KEY_LEN);
	assert_int_equal(q.rest_len, REQUEST_INIT_LEN);
	assert_true(load_word(q.rest) == COOKIE);
	assert_int_equal(tryst_accept(&accepted, P, q.rest, q.rest_len), 0);
	assert_true(accepted.run == 77);
	assert_memory_equal(accepted.instance, hello.instance, sizeof(hello.instance));
}

/* ---- version 1 ------------------------------------------------------------------------------- */

/* Only the time was requested: the sealed part was empty, or zeros. */
static void a_request_of_version_1(void **state)
{
	static const uint8_t zeros[SHROUD_DATAGRAM_MAX];
	uint8_t key[KEY_LEN];

	(void)state;
	for (size_t len = 0; len < 1200; len += 300) {
		ask_undated();
		memcpy(key, asked.key, KEY_LEN);
		derive_seal(key, 0, request + REQUEST_FRONT_LEN, zeros, len);
		assert_true(request_plausible(&keys, request, REQUEST_MIN + len, INTERVAL, &date));
		assert_int_equal(request_open(&q, &c, request, REQUEST_MIN + len, date), 0);
		assert_int_equal(q.version, 1);
	}
}

static void an_answer_of_version_1(void **state)
{
	uint8_t key[KEY_LEN], message[8] = { 0 };

	(void)state;
	ask();
	derive(key, asked.key, "clock address", NULL, 0, NULL, 0);
	memcpy(answer, key, 8);
	derive(key, asked.key, "clock answer", NULL, 0, NULL, 0);
	derive_seal(key, 0, answer + 8, message, sizeof(message));
	assert_int_equal(request_answered(&asked, &got, answer, 32), -EPROTO);
	answer[31] ^= 1;
	assert_int_equal(request_answered(&asked, &got, answer, 32), -EBADMSG);
}

/* A holder of the public key can make a request with an invalid point. */
static void a_point_of_low_order(void **state)
{
	uint8_t stream[KEY_LEN];

	(void)state;
	ask();
	derive(stream, c.public, "clock mask", request, 16, NULL, 0);
	memcpy(request + 24, stream, KEY_LEN); /* E is 0 */
	assert_true(request_plausible(&keys, request, REQUEST_LEN, INTERVAL, &date));
	assert_int_equal(request_open(&q, &c, request, REQUEST_LEN, INTERVAL), -EBADMSG);
	memset(stream, 0, sizeof(stream));
	assert_int_equal(request_cookie(&asked, request,
					&(struct request_from){ &s, stream, 5, INTERVAL }, P),
			 -EINVAL);
	assert_int_equal(request_set_up(request, answer,
					&(struct request_from){ &s, stream, 5, INTERVAL }),
			 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_and_its_answer),
		cmocka_unit_test(each_answer_has_a_key_of_its_own),
		cmocka_unit_test(altered_bytes),
		cmocka_unit_test(whose_it_is_must_be_proved),
		cmocka_unit_test(a_request_has_a_date),
		cmocka_unit_test(a_request_without_a_date),
		cmocka_unit_test(a_date_needs_all_bytes),
		cmocka_unit_test(another_collector),
		cmocka_unit_test(another_request),
		cmocka_unit_test(a_set_up_under_a_cookie),
		cmocka_unit_test(a_request_of_version_1),
		cmocka_unit_test(an_answer_of_version_1),
		cmocka_unit_test(a_point_of_low_order),
	};

	return keys_init() ? 1 : cmocka_run_group_tests(tests, begin, NULL);
}
