// SPDX-License-Identifier: GPL-2.0
/* links: agent/filter/filter_check.o agent/filter/filter_code.o agent/filter/filter_match.o
 * agent/filter/filter_packet.o */
#include "unit.h"

#include "agent/filter/filter_packet.h"

static struct filter filter;
static char why[FILTER_WHY_LEN];

static int parse(const char *text)
{
	int err = filter_parse_code(&filter, text, strlen(text), why, sizeof(why));

	return err ?: filter_check(&filter, why, sizeof(why));
}

static void refused(const char *text, const char *because)
{
	int err = parse(text);

	if (!err || !strstr(why, because))
		fail_msg("'%s': %d, %s", text, err, why);
}

static void what_tcpdump_prints(void **state)
{
	(void)state;
	assert_int_equal(parse("4\n40 0 0 12\n21 0 1 2048\n6 0 0 262144\n6 0 0 0\n"), 0);
	assert_int_equal(filter.len, 4);
	assert_int_equal(filter.code[1].code, 21);
	assert_int_equal(filter.code[1].jf, 1);
	assert_int_equal(filter.code[1].k, 2048);
	assert_int_equal(parse("1\r\n6 0 0 1\r\n\r\n"), 0);
	assert_int_equal(parse("1\n6 0 0 4294967295"), 0);
}

static void text_that_is_no_code(void **state)
{
	(void)state;
	refused("", "line 1");
	refused("x\n", "line 1");
	refused("0\n", "1 to 8192");
	refused("8193\n", "1 to 8192");
	refused("99999999999999999999\n", "line 1");
	refused("1\n", "line 2: instructions are missing");
	refused("2\n6 0 0 1\n", "line 3: instructions are missing");
	refused("1\n6 0 0 1\n6 0 0 1\n", "line 3: there are more");
	refused("1\n6 0 0\n", "line 2: must be four");
	refused("1\n6 0 0 -1\n", "line 2: must be four");
	refused("1\n6 256 0 1\n", "line 2: must be four");
	refused("1\n65536 0 0 1\n", "line 2: must be four");
	refused("1\n6 0 0 4294967296\n", "line 2: must be four");
	refused("1\n6 0 0 1 \n", "line 2: must be four");
	refused("1\n 6 0 0 1\n", "line 2: must be four");
	refused("1\n6  0 0 1\n", "line 2: must be four");
	refused("1\n0x6 0 0 1\n", "line 2: must be four");
}

static void code_that_is_unsound(void **state)
{
	(void)state;
	refused("1\n7 0 0 0\n", "(000) is no return");
	refused("1\n255 0 0 0\n", "(000) is not one of classic BPF");
	refused("1\n262 0 0 0\n", "(000) is not one of classic BPF"); /* 6, and a ninth bit */
	refused("2\n14 0 0 0\n6 0 0 0\n", "is not one");	      /* return X */
	refused("2\n180 0 0 1\n6 0 0 0\n", "is not one");	      /* an operation above xor */
	refused("2\n21 1 0 5\n6 0 0 0\n", "(000) jumps behind the end");
	refused("2\n21 0 1 5\n6 0 0 0\n", "(000) jumps behind the end");
	refused("2\n5 0 0 1\n6 0 0 0\n", "(000) jumps behind the end");
	refused("2\n5 0 0 4294967295\n6 0 0 0\n", "(000) jumps backwards: 'protochain'");
	refused("2\n96 0 0 16\n6 0 0 0\n", "beyond the 16th");
	refused("2\n2 0 0 16\n6 0 0 0\n", "beyond the 16th");
	refused("2\n96 0 0 3\n6 0 0 0\n", "(000) reads scratch memory that is not written");
	/* written on one of two paths only */
	refused("4\n21 0 1 5\n2 0 0 3\n96 0 0 3\n6 0 0 0\n", "(002) reads scratch memory");
	refused("2\n52 0 0 0\n6 0 0 0\n", "divides by 0");
	refused("2\n148 0 0 0\n6 0 0 0\n", "divides by 0");
	refused("2\n100 0 0 32\n6 0 0 0\n", "more than 31");
	assert_int_equal(parse("4\n21 0 0 5\n2 0 0 3\n96 0 0 3\n6 0 0 0\n"), 0);
	assert_int_equal(parse("2\n100 0 0 31\n6 0 0 0\n"), 0);
}

static void what_linux_alone_knows(void **state)
{
	(void)state;
	refused("2\n40 0 0 4294963200\n6 0 0 0\n", "(000) asks Linux for the protocol");
	refused("2\n40 0 0 4294963204\n6 0 0 0\n", "use -Q in or -Q out");
	refused("2\n40 0 0 4294963208\n6 0 0 0\n", "the interface's index");
	refused("2\n40 0 0 4294963260\n6 0 0 0\n", "the VLAN protocol");
	refused("2\n40 0 0 4294963264\n6 0 0 0\n", "the network header");
	refused("2\n40 0 0 4293918720\n6 0 0 0\n", "the network header");
	refused("2\n40 0 0 4292870144\n6 0 0 0\n", "the link header");
	/* The tag, and whether there is one: in line, for a filter. */
	assert_int_equal(parse("3\n48 0 0 4294963248\n48 0 0 4294963244\n22 0 0 0\n"), 0);
	assert_false(filter_match(&filter, (const uint8_t *)"", 0, 0));
}

static bool match(const char *text, const char *frame, uint32_t len)
{
	assert_int_equal(parse(text), 0);
	return filter_match(&filter, (const uint8_t *)frame, len, len);
}

static void verdicts(void **state)
{
	(void)state;
	assert_true(match("1\n6 0 0 1\n", "", 0));
	assert_false(match("1\n6 0 0 0\n", "abc", 3));
	assert_true(match("2\n40 0 0 1\n22 0 0 0\n", "abc", 3));
	assert_false(match("2\n40 0 0 2\n6 0 0 1\n", "abc", 3)); /* half of it is there */
	assert_false(match("2\n32 0 0 4292870143\n6 0 0 1\n", "abc", 3));
	assert_false(match("3\n1 0 0 4294967295\n80 0 0 2\n6 0 0 1\n", "abc", 3)); /* no wrap */
	assert_false(match("3\n1 0 0 0\n60 0 0 0\n6 0 0 1\n", "", 0));		   /* / 0 */
	assert_false(match("4\n0 0 0 1\n1 0 0 32\n108 0 0 0\n22 0 0 0\n", "", 0)); /* << 32 */
	assert_true(match("2\n128 0 0 0\n22 0 0 0\n", "abc", 3));
	assert_true(match("5\n177 0 0 0\n135 0 0 0\n21 0 1 20\n6 0 0 1\n6 0 0 0\n", "E", 1));
}

/* The generated program runs out of room at every possible place, after short and long loads.
 */
static void too_long_for_a_socket(void **state)
{
	static const struct filter_packet how = { .tags = FILTER_TAGS_WITH_ID, .accept = 1 };
	static struct sock_filter out[FILTER_PACKET_MAX];

	(void)state;
	for (uint32_t start = 0; start < 300; start++) {
		filter.len = FILTER_LEN_MAX;
		for (uint32_t i = 0; i < filter.len; i += 2) {
			filter.code[i] =
				(struct sock_filter){ BPF_LDX | BPF_B | BPF_MSH, 0, 0, 12 };
			filter.code[i + 1] =
				(struct sock_filter){ BPF_LD | BPF_H | BPF_IND, 0, 0, 1 };
		}
		for (uint32_t i = 0; i < start; i++)
			filter.code[i] = (struct sock_filter){ BPF_MISC | BPF_TAX, 0, 0, 0 };
		filter.code[filter.len - 1] = (struct sock_filter){ BPF_RET | BPF_A, 0, 0, 0 };
		assert_int_equal(filter_check(&filter, why, sizeof(why)), 0);
		assert_int_equal(filter_packet(out, &filter, &how), -E2BIG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_tcpdump_prints),
		cmocka_unit_test(text_that_is_no_code),
		cmocka_unit_test(code_that_is_unsound),
		cmocka_unit_test(what_linux_alone_knows),
		cmocka_unit_test(verdicts),
		cmocka_unit_test(too_long_for_a_socket),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
