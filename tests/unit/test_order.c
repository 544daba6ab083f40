// SPDX-License-Identifier: GPL-2.0
/* links: wire/order.o wire/keys.o wire/channel.o */
#include "unit.h"

#include "wire/order.h"

static void orders_come_back(void **state)
{
	struct order_message o;
	uint8_t out[WIRE_ORDER_MESSAGE_MAX];
	size_t len = order_write(out, 0x0123456789abcdef, "set snaplen 96");

	(void)state;
	assert_int_equal(len, 9 + 14);
	assert_int_equal(out[0], 19);
	assert_int_equal(order_read(&o, out, len), 0);
	assert_true(o.number == 0x0123456789abcdef);
	assert_string_equal(o.text, "set snaplen 96");
	for (size_t i = 0; i < 9; i++)
		assert_int_equal(order_read(&o, out, i), -EBADMSG);
	assert_int_equal(order_read(&o, out, 9), 0);
	assert_string_equal(o.text, "");
	out[0] = MESSAGE_ANSWER;
	assert_int_equal(order_read(&o, out, len), -EBADMSG);
}

static void answers_come_back(void **state)
{
	struct answer_message a;
	uint8_t out[ANSWER_MESSAGE_MAX];
	size_t len = answer_write(out, 7, ANSWER_FAILED, "no");

	(void)state;
	assert_int_equal(len, 12);
	assert_int_equal(answer_read(&a, out, len), 0);
	assert_true(a.number == 7 && a.status == ANSWER_FAILED);
	assert_string_equal(a.text, "no");
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(answer_read(&a, out, i), -EBADMSG);
	out[9] = 200; /* of a later version */
	assert_int_equal(answer_read(&a, out, len), 0);
	assert_int_equal(a.status, 200);
}

static void texts_are_bounded_and_printable(void **state)
{
	static char longer[WIRE_ORDER_TEXT_MAX + 100];
	uint8_t out[WIRE_ORDER_MESSAGE_MAX + 1];
	struct order_message o;
	struct answer_message a;

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	assert_int_equal(order_write(out, 1, longer), WIRE_ORDER_MESSAGE_MAX);
	assert_int_equal(order_read(&o, out, WIRE_ORDER_MESSAGE_MAX), 0);
	assert_int_equal(strlen(o.text), WIRE_ORDER_TEXT_MAX);
	out[WIRE_ORDER_MESSAGE_MAX] = 'x';
	assert_int_equal(order_read(&o, out, WIRE_ORDER_MESSAGE_MAX + 1), -EBADMSG);
	assert_int_equal(answer_write(out, 1, 0, longer), ANSWER_MESSAGE_MAX);
	assert_int_equal(answer_read(&a, out, ANSWER_MESSAGE_MAX), 0);
	out[ANSWER_MESSAGE_MAX] = 'x';
	assert_int_equal(answer_read(&a, out, ANSWER_MESSAGE_MAX + 1), -EBADMSG);
	for (int c = 0; c < 256; c++) {
		out[0] = MESSAGE_ORDER;
		out[9] = c;
		assert_int_equal(order_read(&o, out, 10), c >= 32 && c < 127 ? 0 : -EBADMSG);
	}
	order_write(out, 1, "a\nb\033\xff");
	assert_int_equal(order_read(&o, out, 14), 0);
	assert_string_equal(o.text, "a b  ");
}

static void what_a_text_says(void **state)
{
	static const char *const wrong[] = { "",
					     "set",
					     "set ",
					     "get snaplen",
					     "set snaplen",
					     "set snaplen ",
					     "set snaplen 9x",
					     "set snaplen -1",
					     "set snaplen 96 1",
					     "set snaplen 1234567890",
					     "set snaplength 9",
					     "set filters",
					     "setsnaplen 96",
					     "set channels 1,6 share",
					     "set channels 1,6 share 0",
					     "set channels 1,6 share 0/0",
					     "set channels 1,6 share 2/2",
					     "set channels 1,6 share 0/2 now",
					     "set channels 1,6 share 0/65536",
					     "set channels 1,6 share -1/2",
					     "set channels 1, 6",
					     "set channel 1",
					     "focus",
					     "focus 6",
					     "focus 6 30s",
					     "focus 0 30000",
					     "focus 6/40 1",
					     "focus 6 86400001",
					     "focus 6 99999999999999999999999",
					     "focus 6 1 1",
					     "reboot" };
	struct order_setting s;
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		why = NULL;
		assert_int_equal(order_parse(&s, wrong[i], &why), -EINVAL);
		assert_non_null(why);
	}
	assert_int_equal(order_parse(&s, " set  snaplen  96", &why), 0);
	assert_true(s.kind == WIRE_ORDER_SNAPLEN && s.snaplen == 96);
	assert_int_equal(order_parse(&s, "set snaplen 999999999", &why), 0);
	assert_int_equal(order_parse(&s, "set filter tcp port 80", &why), 0);
	assert_int_equal(s.kind, WIRE_ORDER_FILTER);
	assert_string_equal(s.filter, "tcp port 80");
	assert_int_equal(order_parse(&s, "set filter", &why), 0);
	assert_string_equal(s.filter, "");
	assert_string_equal(order_kind_name(WIRE_ORDER_FILTER), "filter");
}

static void what_is_said_of_channels(void **state)
{
	struct order_setting s;
	const char *why;

	(void)state;
	assert_int_equal(order_parse(&s, "set channels 1,6@20ms,11 share 1/3", &why), 0);
	assert_true(s.kind == WIRE_ORDER_CHANNELS && !s.channels.focus);
	assert_int_equal(s.channels.list_len, 11);
	assert_memory_equal(s.channels.list, "1,6@20ms,11", 11);
	assert_true(s.channels.member == 1 && s.channels.members == 3);
	assert_int_equal(order_parse(&s, "set channels  6g:5/80 ", &why), 0);
	assert_true(s.channels.list_len == 7 && s.channels.members == 0);
	assert_int_equal(order_parse(&s, "set channels", &why), 0);
	assert_true(s.channels.list_len == 0 && s.channels.members == 0);
	assert_int_equal(order_parse(&s, "focus 36/80 30000", &why), 0);
	assert_true(s.kind == WIRE_ORDER_CHANNELS && s.channels.focus && s.channels.ms == 30000);
	assert_true(s.channels.channel.mhz == 5180 && s.channels.channel.width == 80);
	assert_int_equal(order_parse(&s, "focus 2437 86400000", &why), 0);
	assert_true(s.channels.channel.mhz == 2437);
	assert_string_equal(order_kind_name(WIRE_ORDER_CHANNELS), "channels");
}

#define KEY_A "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
#define KEY_B "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI="

static void what_is_said_of_keys(void **state)
{
	static const char *const wrong[] = { "set keys",
					     "set keys " KEY_A " " KEY_A,
					     "set keys " KEY_A " " KEY_B " " KEY_A,
					     "set keys " KEY_A "x",
					     "set keys " KEY_A KEY_B,
					     "set keys AQEB",
					     "set keysAQEB" };
	char text[WIRE_ORDER_KEYS_TEXT];
	struct order_setting s;
	const char *why;

	(void)state;
	assert_int_equal(order_parse(&s, "set keys  " KEY_A "  " KEY_B " ", &why), 0);
	assert_true(s.kind == WIRE_ORDER_KEYS && s.keys.count == 2);
	assert_true(s.keys.key[0][31] == 1 && s.keys.key[1][0] == 2);
	order_keys_write(text, &s.keys);
	assert_string_equal(text, "set keys " KEY_A " " KEY_B);
	assert_int_equal(order_parse(&s, "set keys " KEY_B, &why), 0);
	assert_int_equal(s.keys.count, 1);
	order_keys_write(text, &s.keys);
	assert_string_equal(text, "set keys " KEY_B);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(order_parse(&s, wrong[i], &why), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_come_back),
		cmocka_unit_test(answers_come_back),
		cmocka_unit_test(texts_are_bounded_and_printable),
		cmocka_unit_test(what_a_text_says),
		cmocka_unit_test(what_is_said_of_channels),
		cmocka_unit_test(what_is_said_of_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
