// SPDX-License-Identifier: GPL-2.0
/* Derive: the one root of all keys, and the one way of sealing. test_vectors.c compares its bytes.
 *
 * links: wire/derive.o wire/keys.o */
#include "unit.h"

#include <sodium.h>

#include "wire/derive.h"

static uint8_t key[KEY_LEN] = { 1, 2, 3 };

static void label_key_and_input_all_count(void **state)
{
	uint8_t out[5][KEY_LEN], other[KEY_LEN] = { 1, 2, 4 };

	(void)state;
	derive(out[0], key, "one", "ab", 2, "c", 1);
	derive(out[1], other, "one", "ab", 2, "c", 1);
	derive(out[2], key, "two", "ab", 2, "c", 1);
	derive(out[3], key, "one", "ab", 2, "d", 1);
	derive(out[4], key, "onea", "b", 1, "c", 1); /* a label ends */
	for (int i = 0; i < 5; i++)
		for (int j = 0; j < i; j++)
			assert_memory_not_equal(out[i], out[j], KEY_LEN);
}

static void two_inputs_are_one_and_the_key_may_be_the_result(void **state)
{
	uint8_t out[KEY_LEN], same[KEY_LEN];

	(void)state;
	derive(out, key, "x", "abc", 3, NULL, 0);
	derive(same, key, "x", "a", 1, "bc", 2);
	assert_memory_equal(out, same, KEY_LEN);
	memcpy(same, key, KEY_LEN);
	derive(same, same, "x", NULL, 0, "abc", 3);
	assert_memory_equal(out, same, KEY_LEN);
}

static void shared_secrets_agree(void **state)
{
	uint8_t a[KEY_LEN], b[KEY_LEN], pa[KEY_LEN], pb[KEY_LEN], ab[KEY_LEN], ba[KEY_LEN];

	(void)state;
	key_generate(a);
	key_generate(b);
	assert_int_equal(key_public(pa, a), 0);
	assert_int_equal(key_public(pb, b), 0);
	assert_int_equal(derive_shared(ab, a, pb), 0);
	assert_int_equal(derive_shared(ba, b, pa), 0);
	assert_memory_equal(ab, ba, KEY_LEN);
}

/* The points for which X25519 gives 0 with any secret (RFC 7748, section 6.1; the list is that of
 * cr.yp.to/ecdh.html). */
static const uint8_t low_order[][KEY_LEN] = {
	{ 0 },
	{ 1 },
	{ 0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3,
	  0xfa, 0xf1, 0x9f, 0xc4, 0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32,
	  0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00 },
	{ 0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1,
	  0x55, 0x9c, 0x83, 0xef, 0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c,
	  0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57 },
	{ 0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f },
	{ 0xed, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f },
	{ 0xee, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f },
};

static void points_of_low_order_are_refused(void **state)
{
	uint8_t out[KEY_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(low_order) / sizeof(low_order[0]); i++)
		assert_int_equal(derive_shared(out, key, low_order[i]), -EBADMSG);
}

static void what_is_sealed_opens_once_unaltered(void **state)
{
	uint8_t in[40] = "what is said", sealed[sizeof(in) + DERIVE_TAG_LEN], out[sizeof(in)];

	(void)state;
	for (size_t len = 0; len <= sizeof(in); len++) {
		derive_seal(key, 7, sealed, in, len);
		assert_int_equal(derive_open(key, 7, out, sealed, len + DERIVE_TAG_LEN), 0);
		assert_memory_equal(in, out, len);
		assert_int_equal(derive_open(key, 8, out, sealed, len + DERIVE_TAG_LEN), -EBADMSG);
		assert_int_equal(derive_open(key, 7ULL << 32, out, sealed, len + DERIVE_TAG_LEN),
				 -EBADMSG);
		for (size_t i = 0; i < len + DERIVE_TAG_LEN; i++) {
			assert_int_equal(derive_open(key, 7, out, sealed, i), -EBADMSG);
			sealed[i] ^= 0x20;
			assert_int_equal(derive_open(key, 7, out, sealed, len + DERIVE_TAG_LEN),
					 -EBADMSG);
			sealed[i] ^= 0x20;
		}
	}
}

static void every_number_has_a_nonce_of_its_own(void **state)
{
	static const uint64_t numbers[] = { 0, 1, 255, 256, 1ULL << 32, 1ULL << 40, UINT64_MAX };
	uint8_t in[16] = { 0 }, sealed[7][sizeof(in) + DERIVE_TAG_LEN];

	(void)state;
	for (int i = 0; i < 7; i++) {
		derive_seal(key, numbers[i], sealed[i], in, sizeof(in));
		for (int j = 0; j < i; j++)
			assert_memory_not_equal(sealed[i], sealed[j], sizeof(in));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(label_key_and_input_all_count),
		cmocka_unit_test(two_inputs_are_one_and_the_key_may_be_the_result),
		cmocka_unit_test(shared_secrets_agree),
		cmocka_unit_test(points_of_low_order_are_refused),
		cmocka_unit_test(what_is_sealed_opens_once_unaltered),
		cmocka_unit_test(every_number_has_a_nonce_of_its_own),
	};

	return keys_init() ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
