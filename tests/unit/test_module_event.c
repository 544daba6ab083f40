// SPDX-License-Identifier: GPL-2.0
/* links: wire/module_event.o collector/output/event_json.o */
#include "unit.h"

#include "collector/output/event_json.h"
#include "wire/bytes.h"

static const struct module_event usual = { .interface = 1,
					   .direction = 2,
					   .time_ns = 1700000000000000001ULL,
					   .serial = 300,
					   .name = "worm-2_b",
					   .len = 3,
					   .bytes = { 0, 0xff, 0x1a } };

static void assert_said(const struct module_event *got, const struct module_event *want)
{
	assert_int_equal(got->interface, want->interface);
	assert_int_equal(got->direction, want->direction);
	assert_true(got->time_ns == want->time_ns);
	assert_true(got->serial == want->serial);
	assert_string_equal(got->name, want->name);
	assert_int_equal(got->len, want->len);
	assert_memory_equal(got->bytes, want->bytes, want->len);
}

/* Reads from a block of exactly its size, so that sanitizers see a read beyond it. */
static int read_copy(struct module_event *s, const uint8_t *in, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	int err;

	memcpy(copy, in, len);
	memset(s, 0xee, sizeof(*s));
	err = module_event_read(s, copy, len);
	free(copy);
	return err;
}

/* An event with every field at its maximum. */
static struct module_event longest(void)
{
	struct module_event s = { .interface = UINT8_MAX,
				  .direction = 1,
				  .time_ns = UINT64_MAX,
				  .serial = UINT64_MAX,
				  .len = MODULE_EVENT_BYTES_MAX };

	memset(s.name, 'x', MODULE_EVENT_NAME_MAX);
	memset(s.bytes, 0xab, MODULE_EVENT_BYTES_MAX);
	return s;
}

static void events_come_back(void **state)
{
	const struct module_event most = longest(), least = { .name = "a" };
	const struct module_event *list[] = { &usual, &most, &least };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		uint8_t out[MODULE_EVENT_ENCODED_MAX];
		size_t len = module_event_write(out, list[i]);
		struct module_event got;

		assert_true(len <= MODULE_EVENT_ENCODED_MAX);
		assert_int_equal(len == MODULE_EVENT_ENCODED_MAX, i == 1);
		assert_int_equal(read_copy(&got, out, len), 0);
		assert_said(&got, list[i]);
		/* The event's bytes may be truncated; all other fields are needed. */
		for (size_t cut = 0; cut < len; cut++)
			assert_int_equal(read_copy(&got, out, cut),
					 cut < len - list[i]->len ? -EBADMSG : 0);
	}
}

static void the_format_is_frozen(void **state)
{
	static const char frozen[] = "01021797"
				     "9cfe362a0001ac0208776f726d2d325f6200ff1a";
	char text[2 * MODULE_EVENT_ENCODED_MAX + 1];
	uint8_t out[MODULE_EVENT_ENCODED_MAX];
	size_t len = module_event_write(out, &usual);

	(void)state;
	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", out[i]);
	assert_string_equal(text, frozen);
}

/* An event with this name and length, which module_event_write would not write. */
static int read_lie(const char *name, uint64_t name_len, size_t bytes)
{
	uint8_t out[256] = { 1, 1 }, *p = out + 10;
	struct module_event s;

	p += store_varint(p, 7);
	p += store_varint(p, name_len);
	memcpy(p, name, strlen(name));
	p += strlen(name);
	memset(p, 1, bytes);
	return read_copy(&s, out, p + bytes - out);
}

static void what_cannot_be_is_refused(void **state)
{
	static const char *const names[] = { "",    ".",    "..",  "a/b", "a.b",
					     "a b", "\xe9", "a\n", "a\"" };
	static const char long_name[] = "x1234567890123456789012345678901";
	struct module_event s;
	uint8_t eleven[32] = { 0 };

	(void)state;
	assert_int_equal(read_lie("Aa0-_", 5, 0), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(read_lie(names[i], strlen(names[i]), 1), -EBADMSG);
	assert_int_equal(read_lie("a", 0, 5), -EBADMSG);
	assert_int_equal(read_lie(long_name, 31, 0), 0);
	assert_int_equal(read_lie(long_name, 32, 0), -EBADMSG);
	assert_int_equal(read_lie("abc", 4, 0), -EBADMSG);
	assert_int_equal(read_lie("abc", UINT64_MAX, 0), -EBADMSG);
	assert_int_equal(read_lie("abc", (1ULL << 32) + 3, 0), -EBADMSG);
	assert_int_equal(read_lie("abc", 3, MODULE_EVENT_BYTES_MAX), 0);
	assert_int_equal(read_lie("abc", 3, MODULE_EVENT_BYTES_MAX + 1), -EBADMSG);
	memset(eleven + 10, 0xff, 11); /* a serial without an end */
	assert_int_equal(read_copy(&s, eleven, sizeof(eleven)), -EBADMSG);
	assert_false(module_event_name_is_good("a\0b", 3));
}

/* ---- lines ----------------------------------------------------------------------------------- */

static const struct event_json_id id = { 0x0022334455667788ULL, 17, 255 };

static void a_line(void **state)
{
	char line[EVENT_JSON_MAX];
	size_t len = event_json(line, &usual, "lib", "eth0", &id);

	(void)state;
	assert_int_equal(len, strlen(line));
	assert_string_equal(line, "{\"sensor\": \"lib\", \"interface\": \"eth0\", \"module\": "
				  "\"worm-2_b\", \"serial\": 300, \"time_ns\": "
				  "1700000000000000001, \"direction\": \"out\", \"data\": "
				  "\"00ff1a\", \"id\": \"0022334455667788-17-255\"}");
	event_json(line, &(struct module_event){ .name = "m" }, "s", "0",
		   &(struct event_json_id){ 0 });
	assert_string_equal(line, "{\"sensor\": \"s\", \"interface\": \"0\", \"module\": \"m\", "
				  "\"serial\": 0, \"time_ns\": 0, \"direction\": \"in\", "
				  "\"data\": \"\", \"id\": \"0000000000000000-0-0\"}");
}

/* No possible interface name ends a string or equals a module's name. */
static void names_of_interfaces(void **state)
{
	char line[EVENT_JSON_MAX], module[MODULE_EVENT_NAME_MAX + 1];
	size_t len = event_json(line, &usual, "lib", "\", \"module\\\x01\xe9", &id);

	(void)state;
	assert_non_null(strstr(line, "\"interface\": \"\\u0022, \\u0022module\\u005c\\u0001"
				     "\\u00e9\", \"module\": \"worm-2_b\""));
	assert_true(event_json_module(module, line, len));
	assert_string_equal(module, usual.name);
}

static void the_longest_line(void **state)
{
	const struct event_json_id most = { UINT64_MAX, UINT64_MAX, UINT32_MAX };
	const struct module_event s = longest();
	char line[EVENT_JSON_MAX], name[64];

	(void)state;
	memset(name, '"', sizeof(name));
	name[63] = 0;
	assert_true(event_json(line, &s, name, name, &most) < EVENT_JSON_MAX);
}

/* Lines come from files that anybody may have written. */
static void modules_of_lines(void **state)
{
	static const struct {
		const char *line, *module;
	} list[] = {
		{ "{\"a\": \"b\", \"module\": \"worm\", \"", "worm" },
		{ "\", \"module\": \"w\"", "w" },
		{ "\", \"module\": \"w", NULL },
		{ "\", \"module\": \"\"", NULL },
		{ "\", \"module\": \"../x\"", NULL },
		{ "\", \"module\": \"x1234567890123456789012345678901\"", NULL },
		{ "\", \"module\": ", NULL },
		{ "", NULL },
	};
	char module[MODULE_EVENT_NAME_MAX + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		size_t len = strlen(list[i].line);
		char *copy = malloc(len ? len : 1); /* without a NUL byte */

		memcpy(copy, list[i].line, len);
		assert_int_equal(event_json_module(module, copy, len), list[i].module != NULL);
		if (list[i].module)
			assert_string_equal(module, list[i].module);
		free(copy);
	}
}

static void only_events_of_modules(void **state)
{
	uint8_t out[MODULE_EVENT_ENCODED_MAX];
	struct module_event s = usual;
	struct combo_event e = { .type = COMBO_EVENT_SAID, .bytes = out };

	(void)state;
	e.len = module_event_write(out, &s);
	assert_int_equal(event_json_of(&s, &e), 0);
	e.type = COMBO_EVENT_DWELL;
	assert_int_equal(event_json_of(&s, &e), -EBADMSG);
	e.type = COMBO_EVENT_SAID;
	out[0] = 7; /* the highest interface number of a sensor */
	assert_int_equal(event_json_of(&s, &e), 0);
	out[0] = 8;
	assert_int_equal(event_json_of(&s, &e), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_back),
		cmocka_unit_test(the_format_is_frozen),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(a_line),
		cmocka_unit_test(names_of_interfaces),
		cmocka_unit_test(the_longest_line),
		cmocka_unit_test(modules_of_lines),
		cmocka_unit_test(only_events_of_modules),
	};

	return cmocka_run_group_tests_name("said", tests, NULL, NULL);
}
