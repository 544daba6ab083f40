// SPDX-License-Identifier: GPL-2.0
/* links: keep/pseudonym/pseudonym.o keep/pseudonym/pseudonym_text.o */
/* Pseudonyms: vectors of a second implementation (tests/keep/pseudonyms.py), and what makes a
 * permutation. */
#include "unit.h"

#include <sodium.h>

#include "keep/pseudonym/pseudonym.h"
#include "keep/pseudonym/pseudonym_text.h"

#define HALF_BITS 8 /* a domain that is small enough to be tried whole */

static struct pseudonyms names;

static int set_up(void **state)
{
	uint8_t key[PSEUDONYM_KEY_LEN];

	(void)state;
	for (int i = 0; i < PSEUDONYM_KEY_LEN; i++)
		key[i] = i;
	if (sodium_init() < 0)
		return -1;
	pseudonyms_init(&names, key);
	return 0;
}

static void addresses(void **state)
{
	static const struct {
		uint8_t real[6], pseudonym[6];
	} vectors[] = {
		{ { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55 }, { 0x9c, 0xdf, 0xc5, 0x7f, 0xc1, 0x1a } },
		{ { 0x02, 0x11, 0x22, 0x33, 0x44, 0x55 }, { 0x66, 0x02, 0xe0, 0xdf, 0xac, 0x29 } },
		{ { 0x01, 0x11, 0x22, 0x33, 0x44, 0x55 }, { 0x9d, 0xdf, 0xc5, 0x7f, 0xc1, 0x1a } },
		{ { 0xff, 0x00, 0xaa, 0x55, 0xcc, 0x33 }, { 0xa7, 0xab, 0xf1, 0x22, 0x3d, 0x7b } },
		{ { 0x00, 0x00, 0x00, 0x00, 0x00, 0x01 }, { 0x68, 0x28, 0xe2, 0xf1, 0x93, 0x7b } },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe }, { 0x23, 0x74, 0x5b, 0x23, 0xe3, 0x4b } },
		{ { 0x33, 0x33, 0xff, 0x12, 0x34, 0x56 }, { 0xa7, 0xd7, 0xe1, 0xcd, 0x8c, 0x9a } },
	};

	(void)state;
	names.addresses = 0;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		uint8_t out[6];

		pseudonym_address(&names, out, vectors[i].real);
		assert_memory_equal(out, vectors[i].pseudonym, 6);
	}
	assert_int_equal(names.addresses, sizeof(vectors) / sizeof(*vectors));
}

static void addresses_that_stay(void **state)
{
	static const uint8_t stay[][6] = {
		{ 0 },
		{ 255, 255, 255, 255, 255, 255 },
		{ 0x01, 0x80, 0xc2, 0, 0, 0 },
		{ 0x01, 0x00, 0x5e, 0, 0, 251 },
		{ 0x33, 0x33, 0, 0, 0, 1 },
	};

	(void)state;
	names.addresses = 0;
	for (size_t i = 0; i < sizeof(stay) / sizeof(*stay); i++) {
		uint8_t out[6];

		pseudonym_address(&names, out, stay[i]);
		assert_memory_equal(out, stay[i], 6);
	}
	assert_int_equal(names.addresses, 0);
}

/* Each number once; with another key or local bit, in another order. */
static void a_permutation(void **state)
{
	static uint8_t seen[1 << 2 * HALF_BITS];
	unsigned int same_local = 0, same_key = 0;

	(void)state;
	memset(seen, 0, sizeof(seen));
	for (uint64_t x = 0; x < sizeof(seen); x++) {
		uint64_t y = pseudonym_permute(names.address_key, false, x, HALF_BITS);

		assert_true(y < sizeof(seen));
		assert_false(seen[y]);
		seen[y] = 1;
		same_local += y == pseudonym_permute(names.address_key, true, x, HALF_BITS);
		same_key += y == pseudonym_permute(names.clock_key, false, x, HALF_BITS);
	}
	assert_true(same_local < 16 && same_key < 16);
}

static void ssids(void **state)
{
	static const uint8_t zeros[PSEUDONYM_SSID_MAX];
	uint8_t out[PSEUDONYM_SSID_MAX], all[PSEUDONYM_SSID_MAX];

	(void)state;
	for (int i = 0; i < PSEUDONYM_SSID_MAX; i++)
		all[i] = i;
	names.ssids = 0;
	pseudonym_ssid(&names, out, (const uint8_t *)"home", 4);
	assert_memory_equal(out, "l5d8", 4);
	pseudonym_ssid(&names, out, all, sizeof(all));
	assert_memory_equal(out, "489gk1027zgs1ccsfm28qrm4ijbeda9k", sizeof(all));
	pseudonym_ssid(&names, all, all, sizeof(all)); /* in its place */
	assert_memory_equal(out, all, sizeof(all));
	assert_int_equal(names.ssids, 3);
	pseudonym_ssid(&names, out, zeros, sizeof(zeros));
	assert_memory_equal(out, zeros, sizeof(zeros));
	pseudonym_ssid(&names, out, zeros, 0);
	assert_int_equal(names.ssids, 3);
}

static void clocks(void **state)
{
	static const uint8_t bssid[6] = { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55 };

	(void)state;
	assert_true(pseudonym_clock(&names, bssid) == 0xc5fe4a336d08d4dfULL);
}

static void texts(void **state)
{
	static const struct {
		const char *text, *expected;
	} vectors[] = {
		{ "wlx001122334455", "wlx9cdfc57fc11a" },
		{ "001122334455:001122334455", "9cdfc57fc11a:9cdfc57fc11a" },
		{ "at 00:11:22:33:44:55.", "at 9c:df:c5:7f:c1:1a." },
		{ "00-11-22-33-44-55", "9c-df-c5-7f-c1-1a" },
		{ "ac001122334455", "ac9cdfc57fc11a" },
		{ "01122334455", "01122334455" },
		{ "00:11:22:33:44:5", "00:11:22:33:44:5" },
		{ "wlan0", "wlan0" },
		{ "", "" },
		/* one separator between any two digits */
		{ "na00_11_22_33_44_55", "na9c_df_c5_7f_c1_1a" },
		{ "0011.2233.4455", "9cdf.c57f.c11a" },
		{ "00.11.22.33.44.55", "9c.df.c5.7f.c1.1a" },
		{ "001122-334455", "9cdfc5-7fc11a" },
		{ "0-0.1_1:2-2-3-3-4-4-5-5x", "9-c.d_f:c-5-7-f-c-1-1-ax" },
		{ "00:11:22:33:4455", "9c:df:c5:7f:c11a" },
		{ "00::11:22:33:44:55", "00::11:22:33:44:55" },
		{ "00 11 22 33 44 55", "00 11 22 33 44 55" },
		/* the case of the first letter; without one, small letters */
		{ "FF00AA-55CC33", "A7ABF1-223D7B" },
		{ "Ff:00:aa:55:cc:33", "A7:AB:F1:22:3D:7B" },
		{ "fF00aA55CC33", "a7abf1223d7b" },
		/* digits around an address stay if there is one way to read it */
		{ "lab-2_00_11_22_33_44_55", "lab-2_9c_df_c5_7f_c1_1a" },
		{ "a00-11-22-33-44-55", "a9c-df-c5-7f-c1-1a" },
		{ "00:11:22:33:44:55-eth0", "9c:df:c5:7f:c1:1a-eth0" },
		{ "001122334455-2024", "9cdfc57fc11a-2024" },
		{ "0011.2233.4455.5", "9cdf.c57f.c11a.5" },
		{ "00:11:22:33:44:55.0011.2233.4455", "9c:df:c5:7f:c1:1a.9cdf.c57f.c11a" },
		/* rows, from their ends */
		{ "001122334455001122334455", "9cdfc57fc11a9cdfc57fc11a" },
		{ "b001122334455001122334455", "39cdfc57fc11a9cdfc57fc11a" },
		/* else all digits get others */
		{ "00:11:22:33:44:55:00", "9c:f1:42:7e:89:c6:28" },
		{ "00:11:22:33:44:555", "99:db:fe:95:c2:df2" },
		{ "00_11:22_33:44_55_ab", "9c_61:cd_e1:71_1f_be" },
		{ "2024-11-30_00:11:22_33:44:55", "fc6b-b5-69_9c:df:c5_7f:c1:1a" },
		{ "001122334455001122334455001", "9cdb22893d69337b22893d69337" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s", vectors[i].text);
		pseudonym_text(&names, text, strlen(text));
		assert_string_equal(text, vectors[i].expected);
	}
}

static void the_keys_are_wiped(void **state)
{
	struct pseudonyms copy = names;

	(void)state;
	pseudonyms_free(&copy);
	assert_true(sodium_is_zero((const uint8_t *)&copy, sizeof(copy)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(addresses_that_stay),
		cmocka_unit_test(a_permutation),
		cmocka_unit_test(ssids),
		cmocka_unit_test(clocks),
		cmocka_unit_test(texts),
		cmocka_unit_test(the_keys_are_wiped),
	};

	return cmocka_run_group_tests_name("pseudonym", tests, set_up, NULL);
}
