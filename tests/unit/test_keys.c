// SPDX-License-Identifier: GPL-2.0
/* links: wire/keys.o */
#include "unit.h"

#include <unistd.h>

#include "wire/keys.h"

/* RFC 7748, section 6.1: Alice's key pair. */
#define OTHER "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=" /* the secret, as a public one */
#define OWN "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo="
#define PSK "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="
static const char secret_text[] = OTHER;
static const char public_text[] = OWN;

static int read_text(const char *text, struct keypair *own, struct keys_peers *peers,
		     const char **why)
{
	int p[2], err;

	assert_int_equal(pipe(p), 0);
	assert_int_equal(write(p[1], text, strlen(text)), strlen(text));
	close(p[1]);
	err = keys_read(p[0], own, peers, why);
	close(p[0]);
	return err;
}

static void public_keys_as_in_rfc_7748(void **state)
{
	struct keypair own;
	char text[KEY_TEXT_LEN];
	const char *why;

	(void)state;
	assert_int_equal(read_text(secret_text, &own, NULL, &why), 0);
	key_to_text(text, own.public);
	assert_string_equal(text, public_text);
}

static void texts_that_are_no_keys(void **state)
{
	static const char *const bad[] = { "", "abc", "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LC=",
					   "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo= x",
					   "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo" };
	uint8_t key[KEY_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(key_from_text(key, bad[i]), -EINVAL);
	assert_int_equal(key_from_text(key, "  dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=\r\n"),
			 0);
}

/* Reads a file with the secret key followed by `behind`. */
static int read_behind(const char *behind, struct keys_peers *peers, const char **why)
{
	struct keypair own;
	char text[800];

	*why = NULL;
	snprintf(text, sizeof(text), "%s\n%s", secret_text, behind);
	return read_text(text, &own, peers, why);
}

static void key_files(void **state)
{
	struct keys_peers peers;
	struct keypair own;
	const char *why = NULL;

	(void)state;
	assert_int_equal(read_behind(OTHER "\n", &peers, &why), 0);
	assert_int_equal(peers.count, 1);
	assert_int_equal(peers.peer[0].public[0], 0x77);
	assert_int_equal(read_behind(OWN "\n", &peers, &why), -EINVAL);
	assert_non_null(strstr(why, "own public key"));
	assert_int_equal(read_text(secret_text, &own, &peers, &why), -EINVAL);
	assert_non_null(strstr(why, "second line"));
	assert_int_equal(read_behind("\n \n", &peers, &why), -EINVAL);
	assert_non_null(strstr(why, "second line"));
	assert_int_equal(read_text("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", &own, NULL,
				   &why),
			 -EINVAL);
}

static void preshared_keys_and_more_collectors(void **state)
{
	static const uint8_t zeros[KEY_LEN];
	struct keys_peers peers;
	const char *why;

	(void)state;
	assert_int_equal(read_behind(OTHER "\r\npreshared " PSK "\n", &peers, &why), 0);
	assert_int_equal(peers.count, 1);
	assert_int_equal(peers.peer[0].preshared[0], 0x01);
	assert_int_equal(read_behind(OTHER "\n" PSK "\npreshared  " PSK "\n\n", &peers, &why), 0);
	assert_int_equal(peers.count, 2);
	assert_memory_equal(peers.peer[0].preshared, zeros, KEY_LEN);
	assert_int_equal(peers.peer[1].public[0], 0x01);
	assert_int_equal(peers.peer[1].preshared[0], 0x01);
	assert_int_equal(read_behind(OTHER "\n" OTHER "\n" OTHER "\n" OTHER, &peers, &why), 0);
	assert_int_equal(peers.count, 4);
}

static void a_next_key_of_a_collector(void **state)
{
	static const char *const wrong[] = {
		(OTHER "\nnext " OTHER),
		(OTHER "\nnext " OWN),
		(OTHER "\nnext x"),
		(OTHER "\nnext AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
		(OTHER "\nnext " PSK "\nnext " PSK),
		("next " OTHER),
	};
	struct keys_peers peers;
	const char *why;

	(void)state;
	assert_int_equal(read_behind(OTHER "\nnext " PSK "\npreshared " PSK "\n", &peers, &why), 0);
	assert_true(peers.count == 1 && peers.peer[0].next[0] == 0x01);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(read_behind(wrong[i], &peers, &why), -EINVAL);
}

static void what_is_wrong_behind_the_second_line(void **state)
{
	struct keys_peers peers;
	const char *why;

	(void)state;
	assert_int_equal(read_behind("preshared " PSK "\n" OTHER, &peers, &why), -EINVAL);
	assert_non_null(strstr(why, "second line"));
	assert_int_equal(read_behind(OTHER "\npreshared x\n", &peers, &why), -EINVAL);
	assert_non_null(strstr(why, "genpsk"));
	assert_int_equal(read_behind(OTHER "\nnonsense\n", &peers, &why), -EINVAL);
	assert_non_null(strstr(why, "behind the second"));
	assert_int_equal(read_behind(OTHER "\n" OWN "\n", &peers, &why), -EINVAL);
	assert_int_equal(read_behind(OTHER "\n" OTHER "\n" OTHER "\n" OTHER "\n" OTHER, &peers,
				     &why),
			 -EINVAL);
	assert_non_null(strstr(why, "four"));
}

static void generated_keys_are_clamped_and_differ(void **state)
{
	uint8_t a[KEY_LEN], b[KEY_LEN];

	(void)state;
	key_generate(a);
	key_generate(b);
	assert_memory_not_equal(a, b, KEY_LEN);
	assert_int_equal(a[0] & 7, 0);
	assert_int_equal(a[31] & 0xc0, 0x40);
}

static int group_setup(void **state)
{
	(void)state;
	return keys_init();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(public_keys_as_in_rfc_7748),
		cmocka_unit_test(texts_that_are_no_keys),
		cmocka_unit_test(key_files),
		cmocka_unit_test(preshared_keys_and_more_collectors),
		cmocka_unit_test(what_is_wrong_behind_the_second_line),
		cmocka_unit_test(a_next_key_of_a_collector),
		cmocka_unit_test(generated_keys_are_clamped_and_differ),
	};

	return cmocka_run_group_tests_name("keys", tests, group_setup, NULL);
}
