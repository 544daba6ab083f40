// SPDX-License-Identifier: GPL-2.0
/* links: agent/module/signature.o wire/keys.o */
#include "unit.h"

#include "agent/module/signature.h"

static const uint8_t seed[KEY_LEN] = { 1, 2, 3 };

static struct module_signature signed_one(void)
{
	struct module_signature s = { .name = "count", .serial = 7, .interface = MODULE_INTERFACE };

	memset(s.object, 0xab, sizeof(s.object));
	signature_make(&s, seed);
	return s;
}

static int parse(struct module_signature *s, const char *text)
{
	const char *why = NULL;
	int err = signature_parse(s, text, strlen(text), &why);

	assert_true(!err || (why && *why));
	return err;
}

static void what_is_signed_is_read_again(void **state)
{
	struct module_signature s = signed_one(), again;
	char text[SIGNATURE_TEXT_MAX];
	uint8_t public[KEY_LEN];
	size_t len;

	(void)state;
	len = signature_print(text, &s);
	assert_int_equal(len, strlen(text));
	assert_int_equal(parse(&again, text), 0);
	assert_memory_equal(&again, &s, sizeof(s));
	assert_true(signature_valid(&again));
	signature_public(public, seed);
	assert_memory_equal(public, s.key, KEY_LEN);
}

static void the_longest_has_room(void **state)
{
	struct module_signature s = { .serial = UINT64_MAX, .interface = UINT32_MAX }, again;
	char text[SIGNATURE_TEXT_MAX];

	(void)state;
	memset(s.name, 'n', MODULE_NAME_MAX);
	signature_make(&s, seed);
	assert_true(signature_print(text, &s) < SIGNATURE_TEXT_MAX - 1);
	assert_int_equal(parse(&again, text), 0);
	assert_memory_equal(&again, &s, sizeof(s));
}

static void each_field_is_signed(void **state)
{
	struct module_signature s;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		s = signed_one();
		assert_true(signature_valid(&s));
		if (i == 0)
			s.name[0] = 'd';
		else if (i == 1)
			s.serial++;
		else if (i == 2)
			s.interface++;
		else if (i == 3)
			s.object[31] ^= 1;
		else
			s.key[0] ^= 1;
		assert_false(signature_valid(&s));
	}
}

/* Every byte must be as it is: none replaced, left out or repeated. */
static void one_text_each(void **state)
{
	struct module_signature s = signed_one(), again;
	char text[SIGNATURE_TEXT_MAX], other[SIGNATURE_TEXT_MAX];
	size_t len = signature_print(text, &s);
	const char *why;

	(void)state;
	for (size_t i = 0; i < len; i++) {
		assert_int_equal(signature_parse(&again, text, i, &why), -EBADMSG);
		for (int how = 0; how < 3; how++) {
			snprintf(other, sizeof(other), "%.*s%s%s", (int)i, text,
				 how == 0   ? ""
				 : how == 1 ? "0"
					    : " ",
				 text + i + (how == 0));
			if (parse(&again, other) == 0) /* another number, or digit */
				assert_false(signature_valid(&again));
		}
	}
}

static void names(void **state)
{
	static const char *const bad[] = {
		"", ".", "a b", "a/b", "a.b", "\xc3\xa4", "abcdefghijklmnopqrstuvwxyz012345"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(module_name_valid(bad[i]));
	assert_true(module_name_valid("abcdefghijklmnopqrstuvwxyz01234"));
	assert_true(module_name_valid("A-b_9"));
}

static int group_setup(void **state)
{
	(void)state;
	return keys_init();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_signed_is_read_again),
		cmocka_unit_test(the_longest_has_room),
		cmocka_unit_test(each_field_is_signed),
		cmocka_unit_test(one_text_each),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests_name("signature", tests, group_setup, NULL);
}
