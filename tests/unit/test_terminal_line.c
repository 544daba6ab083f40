// SPDX-License-Identifier: GPL-2.0
/* links: common/terminal_line.o common/status_text.o */
/* The status line: what is in it, and what of it reaches a terminal. */
#include "unit.h"

#include <string.h>

#include "common/status_text.h"
#include "common/terminal_line.h"

#define S 1000000000ULL

static const struct status_words words = { "sent", "store 3%  connected" };

static const char *fit(const char *text, unsigned int columns)
{
	static char out[TERMINAL_LINE_MAX];
	size_t len = terminal_line_fit(out, text, columns);

	assert_int_equal(len, strlen(out));
	return out;
}

/* A column stays free for each character of ^C and the cursor. */
static void test_fits_every_width(void **state)
{
	char text[TERMINAL_LINE_MAX];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	for (unsigned int columns = 1; columns < 1000; columns++) {
		size_t len = strlen(fit(text, columns));

		assert_int_equal(len, columns <= 3			? 0
				      : columns < TERMINAL_LINE_MAX + 2 ? columns - 3
									: TERMINAL_LINE_MAX - 1);
	}
	assert_int_equal(strlen(fit(text, 0)), 77);
}

static void test_leaves_out_whole_fields(void **state)
{
	(void)state;
	assert_string_equal(fit("heard 1/s  kept 1/s  sent", 28), "heard 1/s  kept 1/s  sent");
	assert_string_equal(fit("heard 1/s  kept 1/s  sent", 27), "heard 1/s  kept 1/s");
	assert_string_equal(fit("heard 1/s  kept 1/s  sent", 22), "heard 1/s  kept 1/s");
	assert_string_equal(fit("heard 1/s  kept 1/s  sent", 21), "heard 1/s");
	assert_string_equal(fit("heard 1/s  kept 1/s  sent", 8), "heard"); /* the first is cut */
	assert_string_equal(fit("", 80), "");
}

/* Names come from others, and the text from a process that may be another's. */
static void test_has_no_control_characters(void **state)
{
	char text[256];

	(void)state;
	for (int i = 0; i < 255; i++)
		text[i] = 1 + i;
	text[255] = 0;
	for (const char *c = fit(text, 1000); *c; c++)
		assert_true(*c >= ' ' && *c <= '~');
	assert_string_equal(fit("a\033[2Jb\r\n\x9b", 80), "a?[2Jb???");
}

static void test_rates(void **state)
{
	const struct status_counts before = { .heard = 1000, .kept = 500, .bytes = 7000 };
	const struct status_counts now = {
		.heard = 3000, .kept = 1000, .bytes = 31690, .frames = 1000
	};
	char text[STATUS_TEXT_MAX];

	(void)state;
	status_text(text, &before, &now, 2 * S, &words);
	assert_string_equal(text, "heard 1000/s  kept 250/s  sent 12.3 kB/s  store 3%  connected  "
				  "31.6 B/frame");
	status_text(text, &now, &now, S, &words);
	assert_string_equal(
		text, "heard 0/s  kept 0/s  sent 0.0 kB/s  store 3%  connected  31.6 B/frame");
	/* Counters may go back if a sensor disappears. */
	status_text(text, &now, &before, S, &words);
	assert_string_equal(text, "heard 0/s  kept 0/s  sent 0.0 kB/s  store 3%  connected");
}

static void test_losses_are_named(void **state)
{
	const struct status_counts none = { 0 };
	struct status_counts now = { .heard = 5, .lost = { { "ring", 0 }, { "copy", 0 } } };
	char text[STATUS_TEXT_MAX];

	(void)state;
	status_text(text, &none, &now, S, &words);
	assert_null(strstr(text, "lost"));
	now.lost[1].frames = 12;
	status_text(text, &none, &now, S, &words);
	assert_non_null(strstr(text, "/s  lost: copy 12  store"));
	now.lost[0].frames = 3;
	status_text(text, &none, &now, S, &words);
	assert_non_null(strstr(text, "/s  lost: ring 3, copy 12  store"));
}

static void test_the_largest_numbers(void **state)
{
	const struct status_counts none = { 0 };
	struct status_counts now = { UINT64_MAX, UINT64_MAX, UINT64_MAX, 1, { { 0 } } };
	char text[STATUS_TEXT_MAX];

	(void)state;
	for (int i = 0; i < STATUS_LOSSES; i++) {
		now.lost[i].where = "vanished";
		now.lost[i].frames = UINT64_MAX;
	}
	status_text(text, &none, &now, 1, &words);
	assert_true(strlen(text) < STATUS_TEXT_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fits_every_width),
		cmocka_unit_test(test_leaves_out_whole_fields),
		cmocka_unit_test(test_has_no_control_characters),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_losses_are_named),
		cmocka_unit_test(test_the_largest_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
