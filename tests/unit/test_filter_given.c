// SPDX-License-Identifier: GPL-2.0
/* links: agent/filter/filter.o agent/filter/filter_check.o agent/filter/filter_code.o
 * agent/filter/filter_compile.o */
#include "unit.h"

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
		cmocka_unit_test(filters_are_told_apart),
	};

	return cmocka_run_group_tests_name("filter_given", tests, NULL, NULL);
}
