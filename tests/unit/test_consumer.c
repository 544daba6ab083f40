// SPDX-License-Identifier: GPL-2.0
/* links: collector/output/event_json.o wire/module_event.o */
#include "unit.h"

#include <fcntl.h>
#include <saluki/consumer.h>

#include "collector/output/event_json.h"

static struct consumer c;

/* Opens a consumer of module `count` with this text on its standard input. */
static void open_on(const char *text, size_t len)
{
	FILE *f = tmpfile();

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	rewind(f);
	assert_true(dup2(fileno(f), STDIN_FILENO) == STDIN_FILENO);
	fclose(f);
	assert_int_equal(consumer_open(&c, "count"), 0);
}

static void open_text(const char *text)
{
	open_on(text, strlen(text));
}

#define LINE(module, data)                                                                         \
	"{\"sensor\": \"lib\", \"interface\": \"eth0\", \"module\": \"" module                     \
	"\", \"serial\": 3, "                                                                      \
	"\"time_ns\": 1795263065190640000, \"direction\": \"out\", \"data\": \"" data "\"}"

static void assert_next(const char *data, size_t len)
{
	struct consumer_event e;

	assert_int_equal(consumer_next(&c, &e, -1), 1);
	assert_int_equal(e.len, len);
	assert_memory_equal(e.data, data, len);
	assert_int_equal((uintptr_t)e.data % 8, 0);
	assert_string_equal(e.sensor, "lib");
	assert_string_equal(e.interface, "eth0");
	assert_int_equal(e.time_ns, 1795263065190640000);
	assert_int_equal(e.serial, 3);
	assert_int_equal(e.direction, 2);
}

static void assert_end(unsigned long bad_lines)
{
	struct consumer_event e;

	assert_int_equal(consumer_next(&c, &e, -1), -ENODATA);
	assert_int_equal(consumer_next(&c, &e, 0), -ENODATA);
	assert_int_equal(c.bad_lines, bad_lines);
	consumer_close(&c);
}

static void lines_in_their_order(void **state)
{
	(void)state;
	open_text(LINE("count", "0a") "\n" LINE("other", "0b") "\r\n" LINE("count", "0cFF") "\n");
	assert_next("\x0a", 1);
	assert_next("\x0c\xff", 2);
	assert_end(0);
}

static void the_last_may_have_no_end(void **state)
{
	(void)state;
	open_text(LINE("count", "01") "\n" LINE("count", "02"));
	assert_next("\x01", 1);
	assert_next("\x02", 1);
	assert_end(0);
}

static void fields_of_later_collectors_are_passed_over(void **state)
{
	(void)state;
	open_text("{\"new\":{\"a\":[1,\"}\\\"\",{}],\"b\":null},\"x\": -1.5e3 ," /* and then as ever
										  */
		  "\"sensor\":\"lib\",\"interface\":\"eth0\",\"module\":\"count\",\"serial\":3,"
		  "\"time_ns\":1795263065190640000,\"direction\":\"out\",\"data\":\"07\",\"z\":"
		  "true}");
	assert_next("\7", 1);
	assert_end(0);
}

static void what_is_no_event_is_passed_over(void **state)
{
	static const char *const bad[] = {
		"",
		"{}",
		"nonsense",
		"{\"module\": \"count\"}",
		LINE("count", ""),
		LINE("count", "0"),
		LINE("count", "0g"),
		LINE("count", "0a") "x",
		LINE("count", "0a\\u00"),
		LINE("a-name-that-is-longer-than-any-can-be", "0a"),
		LINE("count", "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
			      "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff00"),
		"{\"sensor\": \"lib",
		"[" LINE("count", "0a") "]",
		"{\"x\": {\"y\": 1}",
	};
	char text[8192] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		strcat(strcat(text, bad[i]), "\n");
	strcat(text, LINE("count", "0a") "\n");
	open_text(text);
	assert_next("\x0a", 1);
	assert_end(sizeof(bad) / sizeof(bad[0]));
}

/* Longer than the buffer, with a NUL byte in it; a valid line follows. */
static void a_line_without_an_end(void **state)
{
	size_t len = 3 * CONSUMER_BUFFER;
	char *text = calloc(1, len + 1024);

	(void)state;
	memset(text, '"', len);
	text[7] = 0;
	strcpy(text + len, "\n" LINE("count", "0a") "\n");
	open_on(text, len + strlen(text + len));
	free(text);
	assert_next("\x0a", 1);
	assert_true(c.bad_lines >= 1);
	assert_end(c.bad_lines);
}

/* More lines than one buffer holds, so that some cross its end. */
static void many_lines(void **state)
{
	static const char line[] = LINE("count", "0102") "\n";
	const size_t count = 5 * CONSUMER_BUFFER / sizeof(line);
	char *text = malloc(count * sizeof(line));

	(void)state;
	for (size_t i = 0; i < count; i++)
		memcpy(text + i * (sizeof(line) - 1), line, sizeof(line) - 1);
	open_on(text, count * (sizeof(line) - 1));
	free(text);
	for (size_t i = 0; i < count; i++)
		assert_next("\1\2", 2);
	assert_end(0);
}

static void what_the_collector_writes_is_read(void **state)
{
	struct module_event s = { .direction = 1,
				  .time_ns = UINT64_MAX,
				  .serial = UINT64_MAX,
				  .name = "count",
				  .len = MODULE_EVENT_BYTES_MAX };
	const struct event_json_id id = { UINT64_MAX, UINT64_MAX, UINT32_MAX };
	struct consumer_event e;
	char line[EVENT_JSON_MAX];

	(void)state;
	for (int i = 0; i < MODULE_EVENT_BYTES_MAX; i++)
		s.bytes[i] = 255 - i;
	event_json(line, &s, "r\xff\"\\oom-4567890123456789012345678", "et\x1bh0,}]\"012345", &id);
	open_text(line);
	assert_int_equal(consumer_next(&c, &e, -1), 1);
	assert_string_equal(e.sensor, "r\xff\"\\oom-45678901234567890123456"); /* 31 */
	assert_string_equal(e.interface, "et?h0,}]\"012345"); /* not for a terminal */
	assert_true(e.serial == UINT64_MAX && e.time_ns == UINT64_MAX && e.direction == 1);
	assert_int_equal(e.len, MODULE_EVENT_BYTES_MAX);
	assert_memory_equal(e.data, s.bytes, MODULE_EVENT_BYTES_MAX);
	assert_end(0);
}

static void it_waits_no_longer_than_it_is_told(void **state)
{
	struct consumer_event e;
	int fds[2];
	__u64 begin;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_true(dup2(fds[0], STDIN_FILENO) == STDIN_FILENO);
	assert_int_equal(consumer_open(&c, "count"), 0);
	assert_int_equal(consumer_next(&c, &e, 0), 0);
	/* Half a line does not restart the timeout. */
	assert_int_equal(write(fds[1], LINE("count", "0a"), 20), 20);
	begin = consumer_clock(CLOCK_MONOTONIC);
	assert_int_equal(consumer_next(&c, &e, 50), 0);
	assert_true(consumer_clock(CLOCK_MONOTONIC) - begin >= 49000000);
	assert_int_equal(write(fds[1], &LINE("count", "0a")[20], strlen(LINE("count", "0a")) - 20),
			 strlen(LINE("count", "0a")) - 20);
	close(fds[1]);
	assert_next("\x0a", 1);
	assert_end(0);
	close(fds[0]);
}

static void descriptors_of_maps(void **state)
{
	(void)state;
	open_text("");
	assert_int_equal(consumer_map(&c, "counts"), -ENOENT);
	setenv(SALUKI_ENV_MAPS, "count:5 counts:6 other:17", 1);
	assert_int_equal(consumer_map(&c, "count"), 5);
	assert_int_equal(consumer_map(&c, "counts"), 6);
	assert_int_equal(consumer_map(&c, "other"), 17);
	assert_int_equal(consumer_map(&c, "ther"), -ENOENT);
	assert_int_equal(consumer_map(&c, "cou"), -ENOENT);
	unsetenv(SALUKI_ENV_MAPS);
	consumer_close(&c);
}

static void what_is_not_for_it(void **state)
{
	(void)state;
	setenv(SALUKI_ENV_EVENTS, "3:4096:4", 1);
	setenv(SALUKI_ENV_MODULE, "other", 1);
	assert_int_equal(consumer_open(&c, "count"), -EINVAL);
	setenv(SALUKI_ENV_MODULE, "count", 1);
	setenv(SALUKI_ENV_EVENTS, "nonsense", 1);
	assert_int_equal(consumer_open(&c, "count"), -EINVAL);
	setenv(SALUKI_ENV_EVENTS, "999:4096:998", 1);
	assert_int_equal(consumer_open(&c, "count"), -EBADF);
	consumer_close(&c);
	unsetenv(SALUKI_ENV_EVENTS);
	unsetenv(SALUKI_ENV_MODULE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_in_their_order),
		cmocka_unit_test(the_last_may_have_no_end),
		cmocka_unit_test(fields_of_later_collectors_are_passed_over),
		cmocka_unit_test(what_is_no_event_is_passed_over),
		cmocka_unit_test(a_line_without_an_end),
		cmocka_unit_test(many_lines),
		cmocka_unit_test(what_the_collector_writes_is_read),
		cmocka_unit_test(it_waits_no_longer_than_it_is_told),
		cmocka_unit_test(descriptors_of_maps),
		cmocka_unit_test(what_is_not_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
