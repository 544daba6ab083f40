// SPDX-License-Identifier: GPL-2.0
/* links: agent/filter/filter.o agent/filter/filter_check.o agent/filter/filter_code.o
 * agent/filter/filter_compile.o agent/filter/filter_file.o */
#include "unit.h"

#include <unistd.h>

#include "agent/filter/filter.h"

static struct filter filter;
static char why[FILTER_WHY_LEN];

static void parse(const char *text)
{
	assert_int_equal(filter_parse_code(&filter, text, strlen(text), why, sizeof(why)), 0);
}

static void expressions(void **state)
{
	(void)state;
	assert_int_equal(filter_compile(&filter, "tcp port 80", 1, why, sizeof(why)), 0);
	assert_true(filter.len > 5);
	assert_string_equal(filter.text, "tcp port 80");
	assert_int_equal(filter_compile(&filter, "  ", 1, why, sizeof(why)), 0);
	assert_int_equal(filter.len, 0);
	assert_int_equal(filter_hash(&filter), 0);
	assert_int_equal(filter_compile(&filter, "type mgt", 1, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "filter 'type mgt': "));
	assert_int_equal(filter.len, 0);
	assert_int_equal(filter_compile(&filter, "ip6 protochain 6", 1, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "use 'proto'"));
	assert_int_equal(filter_compile(&filter, "inbound", 1, why, sizeof(why)), -EOPNOTSUPP);
	assert_non_null(strstr(why, "-Q in"));
}

static void words_of_a_command_line(void **state)
{
	char *const words[] = { "tcp", "port", "80" };
	char *joined = filter_join(3, words);

	(void)state;
	assert_string_equal(joined, "tcp port 80");
	free(joined);
}

/* Returns the expression of a file with this text; NULL if it is refused. */
static char *read_file(const char *text, size_t len)
{
	char path[] = "/tmp/saluki-filter-XXXXXX", *got;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
	got = filter_read_expression(path, why, sizeof(why));
	unlink(path);
	return got;
}

static void expressions_in_files(void **state)
{
	static const struct {
		const char *text, *line;
	} cases[] = {
		{ "tcp port 80\n", "tcp port 80" },
		{ "tcp # or udp\n# all\n port\t80 \r\n\n", "tcp port 80" },
		{ "", "" },
		{ "# nothing", "" },
	};
	char *long_text = calloc(1, 65537), *got;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		got = read_file(cases[i].text, strlen(cases[i].text));
		assert_non_null(got);
		assert_string_equal(got, cases[i].line);
		free(got);
	}
	assert_null(read_file("tcp\0udp", 7));
	assert_non_null(strstr(why, "-F /tmp/saluki-filter-"));
	assert_null(filter_read_expression("/nowhere", why, sizeof(why)));
	assert_string_equal(why, "-F /nowhere: No such file or directory");
	memset(long_text, ' ', 65537);
	assert_null(read_file(long_text, 65537));
	got = read_file(long_text, 65536);
	assert_string_equal(got, "");
	free(got);
	free(long_text);
}

static void filters_are_told_apart(void **state)
{
	uint32_t a;

	(void)state;
	parse("1\n6 0 0 1\n");
	a = filter_hash(&filter);
	parse("1\n6 0 0 0\n");
	assert_int_not_equal(a, filter_hash(&filter));
	assert_int_equal(filter_hash(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressions),
		cmocka_unit_test(words_of_a_command_line),
		cmocka_unit_test(expressions_in_files),
		cmocka_unit_test(filters_are_told_apart),
	};

	return cmocka_run_group_tests_name("filter_given", tests, NULL, NULL);
}
