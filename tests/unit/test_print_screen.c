// SPDX-License-Identifier: GPL-2.0
/* links: print/screen.o */
#include "unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "print/screen.h"

static struct screen screen;
static char shown[1 << 18];

/* Returns the screen's output for `len` bytes in chunks of `step`. */
static const char *show(const char *bytes, size_t len, size_t step, bool utf8)
{
	FILE *f = tmpfile();
	size_t n;

	screen_init(&screen, fileno(f), utf8);
	for (size_t at = 0; at < len; at += step)
		screen_add(&screen, bytes + at, len - at < step ? len - at : step);
	assert_int_equal(screen_flush(&screen), 0);
	lseek(fileno(f), 0, SEEK_SET);
	n = read(fileno(f), shown, sizeof(shown) - 1);
	shown[n] = '\0';
	fclose(f);
	return shown;
}

static const struct {
	const char *bytes, *utf8, *ascii;
} cases[] = {
	{ "a line\tof text\n", "a line\tof text\n", "a line\tof text\n" },
	{ "\x1b[2J\r\b\x7f.", "\\x1b[2J\\x0d\\x08\\x7f.", "\\x1b[2J\\x0d\\x08\\x7f." },
	{ "K\xc3\xbc"
	  "che \xe2\x86\x92 \xf0\x9f\x90\x95.",
	  "K\xc3\xbc"
	  "che \xe2\x86\x92 \xf0\x9f\x90\x95.",
	  "K\\xc3\\xbc"
	  "che \\xe2\\x86\\x92 \\xf0\\x9f\\x90\\x95." },
	{ "\xc2\x9b\x32J.", "\\u009b2J.", "\\xc2\\x9b2J." }, /* C1 */
	{ "\x9b\x32J.", "\\x9b2J.", "\\x9b2J." },
	{ "\xe2\x80\xae.", "\\u202e.", "\\xe2\\x80\\xae." }, /* direction */
	{ "\xe2\x80\xa8.", "\\u2028.", "\\xe2\\x80\\xa8." }, /* line end */
	{ "\xc0\x8a.", "\\xc0\\x8a.", "\\xc0\\x8a." },	     /* too long */
	{ "\xe0\x82\x9b.", "\\xe0\\x82\\x9b.", "\\xe0\\x82\\x9b." },
	{ "\xf0\x80\x82\x9b.", "\\xf0\\x80\\x82\\x9b.", "\\xf0\\x80\\x82\\x9b." },
	{ "\xed\xa0\x80.", "\\xed\\xa0\\x80.", "\\xed\\xa0\\x80." },		   /* surrogate */
	{ "\xf4\x90\x80\x80.", "\\xf4\\x90\\x80\\x80.", "\\xf4\\x90\\x80\\x80." }, /* too large */
	{ "\xff\xfe.", "\\xff\\xfe.", "\\xff\\xfe." },
	{ "\xe2\x86\x1b.", "\\xe2\\x86\\x1b.", "\\xe2\\x86\\x1b." }, /* cut short */
	{ "\xe2\xe2\x86\x92.", "\\xe2\xe2\x86\x92.", "\\xe2\\xe2\\x86\\x92." },
	{ "\xe2\x86\n.", "\\xe2\\x86\n.", "\\xe2\\x86\n." },
};

static void controls_are_shown_and_text_stays(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (size_t step = 1; step < 9; step++) {
			const char *b = cases[i].bytes;

			assert_string_equal(show(b, strlen(b), step, true), cases[i].utf8);
			assert_string_equal(show(b, strlen(b), step, false), cases[i].ascii);
		}
	assert_string_equal(show("\0.", 2, 1, true), "\\x00.");
}

static void no_two_bytes_make_a_control(void **state)
{
	(void)state;
	for (int a = 0; a < 256; a++)
		for (int b = 0; b < 256; b++) {
			const char bytes[] = { a, b, '.' };
			const char *text = show(bytes, 3, 3, true);

			for (const char *p = text; *p; p++) {
				uint8_t c = *p;

				assert_true(c >= 0x20 || c == '\n' || c == '\t');
				assert_true(c != 0x7f && !(c == 0xc2 && (uint8_t)p[1] < 0xa0));
			}
			assert_true(text[strlen(text) - 1] == '.');
		}
}

static void much_text_is_written_whole(void **state)
{
	static char much[3 * SCREEN_LEN + 7];

	(void)state;
	memset(much, 'x', sizeof(much));
	assert_int_equal(strlen(show(much, sizeof(much), 1000, true)), sizeof(much));
	memset(much, 1, sizeof(much));
	assert_int_equal(strlen(show(much, sizeof(much), sizeof(much), true)), 4 * sizeof(much));
}

static void a_failed_write_is_kept_and_ends_writing(void **state)
{
	int full = open("/dev/full", O_WRONLY);

	(void)state;
	screen_init(&screen, full, true);
	screen_add(&screen, "x", 1);
	assert_int_equal(screen_flush(&screen), -ENOSPC);
	for (int i = 0; i < 3 * SCREEN_LEN; i++)
		screen_add(&screen, "\1", 1);
	assert_int_equal(screen_flush(&screen), -ENOSPC);
	close(full);
}

static void the_locale_decides_on_utf8(void **state)
{
	(void)state;
	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	setenv("LANG", "de_DE.UTF-8", 1);
	assert_true(screen_locale_utf8());
	setenv("LC_CTYPE", "C", 1);
	assert_false(screen_locale_utf8());
	setenv("LC_ALL", "C.utf8", 1);
	assert_true(screen_locale_utf8());
	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	unsetenv("LANG");
	assert_false(screen_locale_utf8());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(controls_are_shown_and_text_stays),
		cmocka_unit_test(no_two_bytes_make_a_control),
		cmocka_unit_test(much_text_is_written_whole),
		cmocka_unit_test(a_failed_write_is_kept_and_ends_writing),
		cmocka_unit_test(the_locale_decides_on_utf8),
	};

	return cmocka_run_group_tests_name("print_screen", tests, NULL, NULL);
}
