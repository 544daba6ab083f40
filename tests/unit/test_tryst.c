// SPDX-License-Identifier: GPL-2.0
/* Tryst: a handshake between a sensor and its collector, and attempts by anyone else.
 *
 * links: wire/tryst.o wire/derive.o wire/shroud.o wire/table.o wire/keys.o */
#include "unit.h"

#include <sodium.h>

#include "wire/bytes.h"
#include "wire/tryst.h"

#define TIME_NS 1792000000123456789ULL
#define INTERVAL (TIME_NS / TRYST_INTERVAL_NS)

static struct keypair s, c;
static uint8_t P[KEY_LEN];

struct set_up {
	struct tryst_hello hello;
	struct tryst_welcome welcome;
	struct tryst_asked asked;
	uint8_t m1[SHROUD_DATAGRAM_MAX], m2[SHROUD_DATAGRAM_MAX];
	long m1_len, m2_len;
	uint8_t k2_sensor[KEY_LEN], k2_collector[KEY_LEN];
};

static void pair_make(struct keypair *pair)
{
	key_generate(pair->secret);
	assert_int_equal(key_public(pair->public, pair->secret), 0);
}

static int begin(void **state)
{
	(void)state;
	pair_make(&s);
	pair_make(&c);
	assert_int_equal(tryst_pair(P, &s, c.public, true, NULL), 0);
	return 0;
}

/* The sensor with these keys makes m1. */
static void say(struct set_up *u, const struct keypair *own, const uint8_t peer[KEY_LEN],
		const uint8_t pair[KEY_LEN], size_t padded_len)
{
	uint64_t slots[TRYST_SLOTS];

	memset(u, 0, sizeof(*u));
	u->hello = (struct tryst_hello){
		.run = 77, .time_ns = TIME_NS, .window = 1024, .info_len = 5, .info = "a=b\n"
	};
	tryst_slots(slots, pair, INTERVAL);
	u->m1_len = tryst_init(&u->asked, u->m1, &(struct tryst_keys){ own, peer, pair }, slots[9],
			       &u->hello, padded_len);
	assert_true(u->m1_len > 0);
	assert_memory_equal(u->m1, &slots[9], 8);
}

/* The collector with these keys answers. Returns the result of tryst_accept or tryst_answer. */
static long answer(struct set_up *u, const struct keypair *own, const uint8_t sensor[KEY_LEN],
		   const uint8_t pair[KEY_LEN], size_t padded_len)
{
	struct tryst_hello hello;
	int err = tryst_accept(&hello, pair, u->m1, u->m1_len);

	if (err)
		return err;
	u->welcome =
		(struct tryst_welcome){ .time_ns = TIME_NS + 1, .window = 512, .sensor_id = 3 };
	u->welcome.flags = padded_len ? TRYST_PADDED : 0;
	u->m2_len = tryst_answer(u->m2, u->k2_collector, &(struct tryst_keys){ own, sensor, pair },
				 &hello, &u->welcome, u->m1, u->m1_len);
	return u->m2_len;
}

static int finish(struct set_up *u)
{
	struct tryst_welcome got;
	int err = tryst_finish(&u->asked, &s, &got, u->k2_sensor, u->m2, u->m2_len);

	if (err)
		return err;
	assert_memory_equal(got.ephemeral, u->welcome.ephemeral, KEY_LEN);
	assert_int_equal(got.time_ns, u->welcome.time_ns);
	assert_int_equal(got.window, u->welcome.window);
	assert_int_equal(got.flags, u->welcome.flags);
	assert_int_equal(got.sensor_id, u->welcome.sensor_id);
	return 0;
}

static void a_set_up(void **state)
{
	static const size_t padded[] = { 0, SHROUD_DATAGRAM_PADDED };
	struct set_up u;

	(void)state;
	for (int i = 0; i < 2; i++) {
		say(&u, &s, c.public, P, padded[i]);
		assert_int_equal(u.m1_len, padded[i] ? (long)padded[i] : TRYST_INIT_MIN + 5);
		assert_true(answer(&u, &c, s.public, P, padded[i]) > 0);
		assert_int_equal(u.m2_len, padded[i] ? (long)padded[i] : TRYST_ANSWER_MIN);
		assert_true(u.m2_len <= u.m1_len);
		assert_int_equal(finish(&u), 0);
		assert_memory_equal(u.k2_sensor, u.k2_collector, KEY_LEN);
		assert_true(sodium_is_zero(u.asked.ephemeral.secret, KEY_LEN));
		assert_true(sodium_is_zero(u.asked.k1, KEY_LEN));
		assert_int_equal(finish(&u), -EBADMSG); /* an m1 is answered once */
	}
}

static void what_was_said_arrives(void **state)
{
	struct tryst_hello hello;
	struct set_up u;

	(void)state;
	say(&u, &s, c.public, P, 0);
	assert_int_equal(tryst_accept(&hello, P, u.m1, u.m1_len), 0);
	assert_memory_equal(hello.ephemeral, u.hello.ephemeral, KEY_LEN);
	assert_true(hello.run == u.hello.run && hello.time_ns == u.hello.time_ns);
	assert_int_equal(hello.window, u.hello.window);
	assert_int_equal(hello.flags, u.hello.flags);
	assert_int_equal(hello.info_len, u.hello.info_len);
	assert_memory_equal(hello.info, u.hello.info, 6);
}

static void the_longest_info_fits(void **state)
{
	static struct tryst_hello hello = { .version = TRYST_VERSION }, got;
	uint64_t slots[TRYST_SLOTS];
	uint8_t out[SHROUD_DATAGRAM_MAX];
	struct tryst_asked asked;
	long len;

	(void)state;
	tryst_slots(slots, P, INTERVAL);
	hello.info_len = TRYST_INFO_MAX;
	memset(hello.info, 'x', TRYST_INFO_MAX);
	for (size_t padded = 0; padded <= SHROUD_DATAGRAM_PADDED;
	     padded += SHROUD_DATAGRAM_PADDED) {
		len = tryst_init(&asked, out, &(struct tryst_keys){ &s, c.public, P }, slots[0],
				 &hello, padded);
		assert_true(len > 0 && len <= SHROUD_DATAGRAM_PADDED);
		assert_int_equal(tryst_accept(&got, P, out, len), 0);
		assert_memory_equal(&got, &hello, sizeof(got));
	}
}

static void every_set_up_has_keys_of_its_own(void **state)
{
	struct set_up u[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		say(&u[i], &s, c.public, P, 0);
		assert_true(answer(&u[i], &c, s.public, P, 0) > 0);
		assert_int_equal(finish(&u[i]), 0);
	}
	assert_memory_not_equal(u[0].k2_sensor, u[1].k2_sensor, KEY_LEN);
	assert_memory_not_equal(u[0].m1 + 8, u[1].m1 + 8, 16);
	assert_memory_not_equal(u[0].m2, u[1].m2, 8);
}

static void slots_are_of_pair_and_interval(void **state)
{
	uint64_t all[4 * TRYST_SLOTS];
	uint8_t other[KEY_LEN];
	struct keypair t;

	(void)state;
	pair_make(&t);
	assert_int_equal(tryst_pair(other, &t, c.public, true, NULL), 0);
	tryst_slots(all, P, INTERVAL);
	tryst_slots(all + 1 * TRYST_SLOTS, P, INTERVAL + 1);
	tryst_slots(all + 2 * TRYST_SLOTS, P, INTERVAL + TRYST_INTERVALS_A_DAY);
	tryst_slots(all + 3 * TRYST_SLOTS, other, INTERVAL);
	for (int i = 0; i < 4 * TRYST_SLOTS; i++)
		for (int j = 0; j < i; j++)
			assert_true(all[i] != all[j]);
}

static void altered_bytes(void **state)
{
	struct tryst_hello hello;
	struct set_up u;

	(void)state;
	say(&u, &s, c.public, P, 0);
	for (long i = 0; i < u.m1_len; i++) {
		u.m1[i] ^= 4;
		assert_int_equal(tryst_accept(&hello, P, u.m1, u.m1_len), -EBADMSG);
		u.m1[i] ^= 4;
		assert_int_equal(tryst_accept(&hello, P, u.m1, i), -EBADMSG);
	}
	assert_true(answer(&u, &c, s.public, P, 0) > 0);
	for (long i = 0, len = u.m2_len; i < len; i++) {
		u.m2[i] ^= 4;
		assert_int_equal(finish(&u), -EBADMSG);
		u.m2[i] ^= 4;
		u.m2_len = i;
		assert_int_equal(finish(&u), -EBADMSG);
		u.m2_len = len;
	}
	assert_int_equal(finish(&u), 0); /* the refused answer changed nothing */
	assert_memory_equal(u.k2_sensor, u.k2_collector, KEY_LEN);
}

/* An m1 altered and sealed again by an attacker gives other keys: its hash is in k1. */
static void an_answer_is_to_its_own_m1(void **state)
{
	struct set_up u, v;

	(void)state;
	say(&u, &s, c.public, P, 0);
	say(&v, &s, c.public, P, 0);
	assert_true(answer(&v, &c, s.public, P, 0) > 0);
	memcpy(u.m2, v.m2, sizeof(u.m2));
	u.m2_len = v.m2_len;
	assert_int_equal(finish(&u), -EBADMSG);
}

static void other_keys(void **state)
{
	uint8_t other[KEY_LEN];
	struct keypair t;
	struct set_up u;

	(void)state;
	pair_make(&t);
	/* A stranger with both public keys. */
	assert_int_equal(tryst_pair(other, &t, c.public, true, NULL), 0);
	say(&u, &t, c.public, other, 0);
	assert_int_equal(answer(&u, &c, s.public, P, 0), -EBADMSG);
	/* Another collector. */
	say(&u, &s, c.public, P, 0);
	assert_int_equal(tryst_pair(other, &t, s.public, false, NULL), 0);
	assert_int_equal(answer(&u, &t, s.public, other, 0), -EBADMSG);
}

static void preshared_keys(void **state)
{
	uint8_t one[KEY_LEN] = { 1 }, two[KEY_LEN] = { 2 }, zero[KEY_LEN] = { 0 };
	uint8_t sensor[KEY_LEN], collector[KEY_LEN];
	struct set_up u;

	(void)state;
	assert_int_equal(tryst_pair(sensor, &s, c.public, true, one), 0);
	assert_int_equal(tryst_pair(collector, &c, s.public, false, one), 0);
	assert_memory_equal(sensor, collector, KEY_LEN);
	say(&u, &s, c.public, sensor, 0);
	assert_int_equal(answer(&u, &c, s.public, P, 0), -EBADMSG);
	assert_int_equal(tryst_pair(collector, &c, s.public, false, two), 0);
	assert_int_equal(answer(&u, &c, s.public, collector, 0), -EBADMSG);
	assert_true(answer(&u, &c, s.public, sensor, 0) > 0);
	assert_int_equal(finish(&u), 0);
	assert_int_equal(tryst_pair(collector, &c, s.public, false, zero), 0);
	assert_memory_equal(collector, P, KEY_LEN); /* none is zeros */
}

/* A holder of the sensor's key knows P, and so its messages, but not k1, which needs c or e_s. */
static void a_stolen_sensor_key_makes_no_answer(void **state)
{
	struct keypair thief[2];
	struct tryst_hello hello;
	struct set_up u;

	(void)state;
	say(&u, &s, c.public, P, 0);
	assert_int_equal(tryst_accept(&hello, P, u.m1, u.m1_len), 0);
	pair_make(&thief[0]);
	thief[1] = s;
	for (int i = 0; i < 2; i++) {
		memcpy(thief[i].public, c.public, KEY_LEN);
		assert_true(answer(&u, &thief[i], s.public, P, 0) > 0);
		assert_int_equal(finish(&u), -EBADMSG);
	}
}

/* A holder of the collector's key can make an m1 in a sensor's name, but not the session's keys. */
static void a_stolen_collector_key_is_no_sensor(void **state)
{
	struct keypair thief = c;
	struct tryst_welcome welcome;
	uint8_t k2[KEY_LEN];
	struct set_up u;

	(void)state;
	memcpy(thief.public, s.public, KEY_LEN);
	say(&u, &thief, c.public, P, 0);
	assert_true(answer(&u, &c, s.public, P, 0) > 0);
	assert_int_equal(tryst_finish(&u.asked, &thief, &welcome, k2, u.m2, u.m2_len), 0);
	assert_memory_not_equal(k2, u.k2_collector, KEY_LEN);
}

static void points_of_low_order(void **state)
{
	static const uint8_t low[2][KEY_LEN] = { { 0 }, { 1 } };
	uint8_t pair[KEY_LEN], k2[KEY_LEN];
	struct tryst_welcome welcome = { 0 };
	struct set_up u;

	(void)state;
	say(&u, &s, c.public, P, 0);
	for (int i = 0; i < 2; i++) {
		struct tryst_hello hello = u.hello;

		assert_int_equal(tryst_pair(pair, &s, low[i], true, NULL), -EINVAL);
		assert_int_equal(tryst_pair(pair, &c, low[i], false, NULL), -EINVAL);
		memcpy(hello.ephemeral, low[i], KEY_LEN);
		assert_int_equal(tryst_answer(u.m2, k2, &(struct tryst_keys){ &c, s.public, P },
					      &hello, &welcome, u.m1, u.m1_len),
				 -EBADMSG);
		assert_int_equal(tryst_renew(k2, P, &s, low[i], true), -EBADMSG);
		assert_int_equal(tryst_renew(k2, P, &c, low[i], false), -EBADMSG);
	}
}

/* Seals a message that no sensor would send. */
static long forge(uint8_t *out, const uint8_t *message, size_t len)
{
	uint8_t key[KEY_LEN];

	memset(out, 0x11, 24);
	derive(key, P, "set-up", out, 24, NULL, 0);
	derive_seal(key, 0, out + 24, message, len);
	return 24 + len + DERIVE_TAG_LEN;
}

static int accept_forged(struct tryst_hello *hello, const uint8_t *message, size_t len)
{
	uint8_t out[1400];

	return tryst_accept(hello, P, out, forge(out, message, len));
}

static void hellos_that_lie(void **state)
{
	uint8_t message[1300] = { 9 };
	const size_t whole = TRYST_HELLO_LEN + TRYST_INSTANCE_LEN;
	struct tryst_hello hello;

	(void)state;
	message[52] = (TRYST_VERSION - 1) << TRYST_VERSION_BITS;
	for (size_t len = 0; len < whole; len++)
		assert_int_equal(accept_forged(&hello, message, len), -EBADMSG);
	assert_int_equal(accept_forged(&hello, message, whole), 0);
	store_be(message + 53, 1, 2);
	assert_int_equal(accept_forged(&hello, message, whole), -EBADMSG);
	store_be(message + 53, TRYST_INFO_MAX + 1, 2);
	assert_int_equal(accept_forged(&hello, message, sizeof(message)), -EBADMSG);
	store_be(message + 53, TRYST_INFO_MAX, 2);
	assert_int_equal(accept_forged(&hello, message, sizeof(message)), 0);
	store_be(message + 53, 0, 2);
	message[52] |= TRYST_ONE_WAY; /* and no number */
	assert_int_equal(accept_forged(&hello, message, whole + TRYST_NEXT_LEN - 1), -EBADMSG);
	assert_int_equal(accept_forged(&hello, message, whole + TRYST_NEXT_LEN), -EBADMSG);
	message[TRYST_HELLO_LEN] = 1;
	assert_int_equal(accept_forged(&hello, message, whole + TRYST_NEXT_LEN), 0);
}

/* Bytes after another version's flags are ignored. */
static void hellos_of_other_versions(void **state)
{
	uint8_t message[TRYST_HELLO_LEN] = { 9 };
	struct tryst_hello hello;

	(void)state;
	memset(message + 53, 0xff, 2);
	for (int version = 1; version <= 16; version++) {
		message[52] = (version - 1) << TRYST_VERSION_BITS;
		assert_int_equal(accept_forged(&hello, message, sizeof(message)),
				 version == TRYST_VERSION ? -EBADMSG : 0);
		assert_int_equal(hello.version, version);
	}
}

/* A second answer to an m1, as after a restart, is under another key. */
static void two_answers_have_two_keys(void **state)
{
	struct set_up u;
	uint8_t first[TRYST_ANSWER_MIN];

	(void)state;
	say(&u, &s, c.public, P, 0);
	assert_int_equal(answer(&u, &c, s.public, P, 0), sizeof(first));
	memcpy(first, u.m2, sizeof(first));
	assert_int_equal(answer(&u, &c, s.public, P, 0), sizeof(first));
	assert_memory_equal(first, u.m2, 8);
	assert_memory_not_equal(first + 8, u.m2 + 8, DERIVE_FRESH_LEN);
	/* The time is the same in both; its sealed bytes differ. */
	assert_memory_not_equal(first + 24 + 32, u.m2 + 24 + 32, 8);
	assert_int_equal(finish(&u), 0);
}

static void an_answer_of_version_1(void **state)
{
	uint8_t m2[8 + TRYST_WELCOME_LEN + DERIVE_TAG_LEN], key[KEY_LEN], k2[KEY_LEN];
	uint8_t message[TRYST_WELCOME_LEN] = { 9 };
	struct tryst_welcome welcome;
	struct set_up u;

	(void)state;
	say(&u, &s, c.public, P, 0);
	memcpy(m2, u.asked.answer, 8);
	derive(key, u.asked.k1, "answer", NULL, 0, NULL, 0);
	derive_seal(key, 0, m2 + 8, message, sizeof(message));
	assert_int_equal(tryst_finish(&u.asked, &s, &welcome, k2, m2, sizeof(m2)), -EPROTO);
	m2[sizeof(m2) - 1] ^= 1;
	assert_int_equal(tryst_finish(&u.asked, &s, &welcome, k2, m2, sizeof(m2)), -EBADMSG);
	assert_true(answer(&u, &c, s.public, P, 0) > 0);
	assert_int_equal(finish(&u), 0);
}

static void sessions_and_renewal(void **state)
{
	struct shroud_keys keys[2];
	uint8_t k2[KEY_LEN] = { 5 }, chain[KEY_LEN], a[KEY_LEN], b[KEY_LEN];
	struct keypair e_s, e_c;

	(void)state;
	tryst_session(k2, &keys[0], &keys[1], chain);
	assert_true(sodium_is_zero(k2, sizeof(k2)));
	assert_memory_not_equal(keys[0].address, keys[1].address, KEY_LEN);
	assert_memory_not_equal(keys[0].seal, keys[1].seal, KEY_LEN);
	assert_memory_not_equal(keys[0].seal, keys[0].address, KEY_LEN);
	tryst_ephemeral(&e_s, s.secret, 1);
	tryst_ephemeral(&e_c, c.secret, 1);
	assert_int_equal(tryst_renew(a, chain, &e_s, e_c.public, true), 0);
	assert_int_equal(tryst_renew(b, chain, &e_c, e_s.public, false), 0);
	assert_memory_equal(a, b, KEY_LEN);
	chain[0] ^= 1;
	assert_int_equal(tryst_renew(b, chain, &e_c, e_s.public, false), 0);
	assert_memory_not_equal(a, b, KEY_LEN);
}

static void ephemerals_are_new(void **state)
{
	struct keypair a, b;
	uint8_t public[KEY_LEN];

	(void)state;
	tryst_ephemeral(&a, s.secret, 1);
	tryst_ephemeral(&b, s.secret, 1);
	assert_memory_not_equal(a.secret, b.secret, KEY_LEN);
	assert_int_equal(key_public(public, a.secret), 0);
	assert_memory_equal(public, a.public, KEY_LEN);
}

static const char *randomness_name(void)
{
	return "the same again";
}

static uint32_t randomness_word(void)
{
	return 4;
}

static void randomness(void *out, const size_t len)
{
	memset(out, 4, len);
}

/* A machine restored from a snapshot sends another message with the same random numbers: the key
 * differs. */
static void the_same_randomness_again(void **state)
{
	static randombytes_implementation same = { .implementation_name = randomness_name,
						   .random = randomness_word,
						   .buf = randomness };
	uint8_t pair[KEY_LEN] = { 1 }, first[SHROUD_DATAGRAM_MAX], second[SHROUD_DATAGRAM_MAX];
	struct tryst_hello hello = { .run = 1, .time_ns = 2 };

	(void)state;
	randombytes_set_implementation(&same);
	tryst_announce(first, pair, 9, &hello, 0);
	hello.time_ns++;
	tryst_announce(second, pair, 9, &hello, 0);
	randombytes_set_implementation(&randombytes_sysrandom_implementation);
	assert_memory_equal(first, second, 8);
	assert_memory_not_equal(first + 8, second + 8, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_up),
		cmocka_unit_test(what_was_said_arrives),
		cmocka_unit_test(the_longest_info_fits),
		cmocka_unit_test(every_set_up_has_keys_of_its_own),
		cmocka_unit_test(slots_are_of_pair_and_interval),
		cmocka_unit_test(altered_bytes),
		cmocka_unit_test(an_answer_is_to_its_own_m1),
		cmocka_unit_test(other_keys),
		cmocka_unit_test(preshared_keys),
		cmocka_unit_test(a_stolen_sensor_key_makes_no_answer),
		cmocka_unit_test(a_stolen_collector_key_is_no_sensor),
		cmocka_unit_test(points_of_low_order),
		cmocka_unit_test(hellos_that_lie),
		cmocka_unit_test(hellos_of_other_versions),
		cmocka_unit_test(two_answers_have_two_keys),
		cmocka_unit_test(an_answer_of_version_1),
		cmocka_unit_test(sessions_and_renewal),
		cmocka_unit_test(ephemerals_are_new),
		cmocka_unit_test(the_same_randomness_again),
	};

	return keys_init() ? 1 : cmocka_run_group_tests(tests, begin, NULL);
}
