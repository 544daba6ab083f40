// SPDX-License-Identifier: GPL-2.0
/* links: common/config.o common/options.o common/suggest.o common/log.o */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/config.h"
#include "said.h"

static const struct option_def defs[] = {
	{ 't', "to", "HOST:PORT", "" }, { 's', "snaplen", "BYTES", "" },
	{ 300, "pad", NULL, "" },	{ 301, CONFIG_OPTION, "FILE", "" },
	{ 'h', "help", NULL, "" },	{ 0 },
};
static const struct option_def secret[] = { { 302, "key-text", "KEY", NULL }, { 0 } };

static char path[] = "/tmp/test_config.XXXXXX";

static void write_file(const char *text, size_t len, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
}

/* Reads the file's options as "id=value ". Returns the last result, -1 or '?'. */
static int read_all(char out[256], bool some)
{
	struct config c;
	int id;

	*out = 0;
	assert_int_equal(config_open(&c, path), 0);
	while ((id = config_next(&c, defs, secret, some)) != -1 && id != '?')
		snprintf(out + strlen(out), 256 - strlen(out), "%d=%s ", id, optarg ?: "-");
	config_close(&c);
	return id;
}

static void reads(const char *text, const char *expected)
{
	char got[256];

	write_file(text, strlen(text), 0600);
	assert_int_equal(read_all(got, false), -1);
	assert_string_equal(got, expected);
}

static void refuses(const char *text, size_t len, mode_t mode, const char *why)
{
	char got[256], line[512];

	write_file(text, len, mode);
	said_begin();
	assert_int_equal(read_all(got, false), '?');
	snprintf(line, sizeof(line), "%s%s", path, why);
	if (!strstr(said_all(), line))
		fail_msg("'%s' has no '%s'", said.text, line);
	assert_null(strstr(said_all(), "YpX08FsFyUbJ")); /* keys belong in no log */
	said_end();
	assert_null(log_settings.where);
}

static void options_keep_their_order(void **state)
{
	(void)state;
	reads("", "");
	reads("\n# only a comment\n\n", "");
	reads("to = a:1\nsnaplen=5\nto\t=  b:2", "116=a:1 115=5 116=b:2 ");
	reads("  pad # a comment\r\npad = yes\r\n", "300=- 300=- ");
	reads("to = a#b\nto = x = y # c\n#to = d\n", "116=a#b 116=x = y ");
	reads("key-text = k\n", "302=k ");
}

static void mistakes_name_file_and_line(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "\nto", ":2: to: needs a value: to = HOST:PORT" },
		{ "to =  # nothing", ":1: to: needs a value" },
		{ "pad = no", ":1: pad: takes no value" },
#ifndef WITHOUT_BPF /* small builds make no suggestions */
		{ "snaplne = 5", ":1: snaplne: no such option; did you mean snaplen?" },
		{ "key-txt = 5", ":1: key-txt: no such option; did you mean key-text?" },
#endif
		{ "elephant", ":1: elephant: no such option\n" },
		{ "to a:1", ":1: must be 'option = value'" },
		{ "= 5", ":1: must be 'option = value'" },
		{ "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=", ":1: the line has no option" },
		{ "key-text dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=",
		  ":1: must be 'option = value'" },
		{ "key-text: dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=",
		  ":1: must be 'option = value'" },
		{ "config = x", ":1: config: goes on the command line" },
		{ "help", ":1: help: goes on the command line" },
		{ "\x1b[1m = 5", ":1: the line has no option" },
	};
	char line[4200];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refuses(bad[i].text, strlen(bad[i].text), 0600, bad[i].why);
	refuses("to = a\0b", 8, 0600, ":1: the line has a NUL byte");
	memset(line, 'x', sizeof(line));
	refuses(line, sizeof(line), 0600, ":1: the line is too long");
}

static void secrets_need_a_private_file(void **state)
{
	(void)state;
	refuses("pad\nkey-text = k", 16, 0640,
		":2: key-text: others can read this file; chmod 600");
	refuses("key-text = k", 12, 0604, ":1: key-text: others can read this file; chmod 600");
}

static void some_options_are_read_from_another_commands_file(void **state)
{
	char got[256];

	(void)state;
	write_file("elephant = 1\nto = a:1\nmouse\n", 28, 0644);
	assert_int_equal(read_all(got, true), -1);
	assert_string_equal(got, "116=a:1 ");
}

static void files_that_cannot_be_read(void **state)
{
	static char large[256 * 1024 + 1];
	struct config c;

	(void)state;
	said_begin();
	assert_int_equal(config_open(&c, "/"), -EINVAL);
	assert_int_equal(config_open(&c, "/nowhere"), -ENOENT);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(config_open(&c, path), -EINVAL);
	unlink(path);
	memset(large, '\n', sizeof(large));
	write_file(large, sizeof(large), 0600);
	assert_int_equal(config_open(&c, path), -EFBIG);
	write_file(large, sizeof(large) - 1, 0600);
	assert_int_equal(config_open(&c, path), 0);
	config_close(&c);
	assert_int_equal(count_said("is not a regular file"), 2);
	assert_int_equal(count_said("is larger than 256 KiB"), 1);
	said_end();
}

/* The options of both as "id=value ". */
static int read_line(char out[256], int argc, char **argv)
{
	struct config_options o = { defs, secret, NULL, { 0 } };
	int id = '?';

	*out = 0;
	optind = 1;
	if (config_begin(&o, argc, argv))
		return id;
	while ((id = config_option(&o, argc, argv)) != -1 && id != '?')
		snprintf(out + strlen(out), 256 - strlen(out), "%d=%s ", id, optarg ?: "-");
	config_close(&o.file);
	return id;
}

static void the_command_line_comes_after_the_file(void **state)
{
	char *line[] = { "run", "expression", "-s", "7", "--config", path, "--pad", NULL };
	char *joined[] = { "run", "--conf=", NULL }, option[64], got[256];

	(void)state;
	write_file("snaplen = 5\n", 12, 0600);
	assert_int_equal(read_line(got, 7, line), -1);
	assert_string_equal(got, "115=5 115=7 300=- ");
	assert_int_equal(optind, 6);
	assert_string_equal(line[optind], "expression");
	snprintf(option, sizeof(option), "--conf=%s", path);
	joined[1] = option;
	assert_int_equal(read_line(got, 2, joined), -1);
	assert_string_equal(got, "115=5 ");
}

static void help_comes_before_a_missing_file(void **state)
{
	char *line[] = { "run", "--help", "--config", "/nowhere", NULL };
	char *twice[] = { "run", "--config", path, "--config", path, NULL }, got[256];

	(void)state;
	read_line(got, 4, line);
	assert_string_equal(got, "104=- ");
	said_begin();
	assert_int_equal(read_line(got, 5, twice), '?');
	assert_int_equal(count_said("give one file"), 1);
	said_end();
}

static int begin(void **state)
{
	(void)state;
	close(mkstemp(path));
	return 0;
}

static int end(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_keep_their_order),
		cmocka_unit_test(mistakes_name_file_and_line),
		cmocka_unit_test(secrets_need_a_private_file),
		cmocka_unit_test(some_options_are_read_from_another_commands_file),
		cmocka_unit_test(files_that_cannot_be_read),
		cmocka_unit_test(the_command_line_comes_after_the_file),
		cmocka_unit_test(help_comes_before_a_missing_file),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
