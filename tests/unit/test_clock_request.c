// SPDX-License-Identifier: GPL-2.0
/* The question for the time, its answer, and what is neither.
 *
 * links: wire/clock_request.o wire/tryst.o wire/derive.o wire/keys.o */
#include "unit.h"

#include <sodium.h>

#include "wire/clock_request.h"
#include "wire/shroud.h"

static struct keypair s, c;
static struct clock_keys keys;
static uint8_t key[KEY_LEN], question[SHROUD_DATAGRAM_MAX], answer[SHROUD_DATAGRAM_MAX];
static uint64_t time_ns;

static int begin(void **state)
{
	(void)state;
	key_generate(s.secret);
	key_generate(c.secret);
	if (key_public(s.public, s.secret) || key_public(c.public, c.secret))
		return -1;
	clock_keys_init(&keys, c.public);
	return 0;
}

static void asked_and_answered(void **state)
{
	static const size_t lens[] = { CLOCK_REQUEST_MIN, 500, 1231, 1232, 1400 };

	(void)state;
	for (int i = 0; i < 5; i++) {
		long len;

		assert_int_equal(clock_ask(key, question, lens[i], &s, c.public, 5), 0);
		assert_true(clock_plausible(&keys, question, lens[i]));
		len = clock_answer(answer, &c, 1234567890123ULL, question, lens[i]);
		assert_int_equal(len, lens[i] < 1232 ? CLOCK_ANSWER_MIN : 1232);
		assert_true(len <= (long)lens[i]);
		assert_int_equal(clock_answered(key, &time_ns, answer, len), 0);
		assert_int_equal(time_ns, 1234567890123ULL);
		assert_true(sodium_is_zero(key, sizeof(key)));
		assert_int_equal(clock_answered(key, &time_ns, answer, len), -EBADMSG);
	}
}

static void altered_bytes(void **state)
{
	long len;

	(void)state;
	assert_int_equal(clock_ask(key, question, 80, &s, c.public, 5), 0);
	for (size_t i = 0; i < 80; i++) {
		question[i] ^= 1;
		assert_int_equal(clock_plausible(&keys, question, 80), i >= 24);
		assert_int_equal(clock_answer(answer, &c, 7, question, 80),
				 i >= 16 && i < 24 ? CLOCK_ANSWER_MIN : -EBADMSG);
		question[i] ^= 1;
		assert_int_equal(clock_plausible(&keys, question, i), i >= CLOCK_REQUEST_MIN);
		assert_int_equal(clock_answer(answer, &c, 7, question, i), -EBADMSG);
	}
	len = clock_answer(answer, &c, 7, question, 80);
	for (long i = 0; i < len; i++) {
		answer[i] ^= 1;
		assert_int_equal(clock_answered(key, &time_ns, answer, len), -EBADMSG);
		answer[i] ^= 1;
		assert_int_equal(clock_answered(key, &time_ns, answer, i), -EBADMSG);
	}
	assert_int_equal(clock_answered(key, &time_ns, answer, len), 0);
}

static void another_collector(void **state)
{
	struct clock_keys other_keys;
	struct keypair other;

	(void)state;
	key_generate(other.secret);
	assert_int_equal(key_public(other.public, other.secret), 0);
	clock_keys_init(&other_keys, other.public);
	assert_int_equal(clock_ask(key, question, 72, &s, c.public, 5), 0);
	assert_false(clock_plausible(&other_keys, question, 72));
	assert_int_equal(clock_answer(answer, &other, 7, question, 72), -EBADMSG);
}

/* An answer is to one question. */
static void another_question(void **state)
{
	uint8_t second[KEY_LEN], other[72];
	long len;

	(void)state;
	assert_int_equal(clock_ask(key, question, 72, &s, c.public, 5), 0);
	assert_int_equal(clock_ask(second, other, 72, &s, c.public, 5), 0);
	assert_memory_not_equal(question, other, 16);
	assert_memory_not_equal(question + 24, other + 24, 32);
	len = clock_answer(answer, &c, 7, other, 72);
	assert_int_equal(clock_answered(key, &time_ns, answer, len), -EBADMSG);
	assert_int_equal(clock_answered(second, &time_ns, answer, len), 0);
}

/* Who has the public key can make a question with a key that is none. */
static void a_point_of_low_order(void **state)
{
	uint8_t stream[KEY_LEN];

	(void)state;
	assert_int_equal(clock_ask(key, question, 72, &s, c.public, 5), 0);
	derive(stream, c.public, "clock mask", question, 16, NULL, 0);
	memcpy(question + 24, stream, KEY_LEN); /* E is 0 */
	assert_true(clock_plausible(&keys, question, 72));
	assert_int_equal(clock_answer(answer, &c, 7, question, 72), -EBADMSG);
	memset(stream, 0, sizeof(stream));
	assert_int_equal(clock_ask(key, question, 72, &s, stream, 5), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asked_and_answered),	cmocka_unit_test(altered_bytes),
		cmocka_unit_test(another_collector),	cmocka_unit_test(another_question),
		cmocka_unit_test(a_point_of_low_order),
	};

	return keys_init() ? 1 : cmocka_run_group_tests(tests, begin, NULL);
}
