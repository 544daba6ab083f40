// SPDX-License-Identifier: GPL-2.0
/* links: common/filter_words.o common/suggest.o */
#include "unit.h"

#include "common/filter_words.h"

static void misspelt_words(void **state)
{
	static const struct {
		const char *expression, *word, *meant;
	} cases[] = {
		{ "upd port 53", "upd", "udp" },
		{ "prot 53", "prot", "port" },
		{ "tpc", "tpc", "tcp" },
		{ "typ mgt", "typ", "type" },
		{ "(tcp or icpm) and src hots 10.0.0.1", "icpm", "icmp" },
		{ "host tpc and dts port http", "dts", "dst" },
		{ "type mgtt", "mgtt", "mgt" },
		{ "type mgt subtype becon", "becon", "beacon" },
		{ "tcp[tcpflag] & tcp-syn != 0", "tcpflag", "tcpflags" },
		{ "brodcast", "brodcast", "broadcast" },
	};
	char hint[FILTER_WORDS_HINT_MAX], expected[FILTER_WORDS_HINT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(expected, sizeof(expected), "; '%s': did you mean %s? See pcap-filter(7)",
			 cases[i].word, cases[i].meant);
		assert_string_equal(filter_words_hint(cases[i].expression, hint), expected);
	}
}

static void no_misspelt_words(void **state)
{
	static const char *const cases[] = {
		"",
		"   ",
		"host upd",
		"port htpp",
		"net prot mask 1",
		"tcp or",
		"((((",
		"tcp and 12",
		"ether host 02:00:00:00:00:01",
		"host www.tpc.org",
		"wlan type mgt",
		"xyzzy",
		"\xc3\xbc\xff",
		"gateway prot",
	};
	char hint[FILTER_WORDS_HINT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(filter_words_hint(cases[i], hint), "; see pcap-filter(7)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(misspelt_words),
		cmocka_unit_test(no_misspelt_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
