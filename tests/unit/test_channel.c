// SPDX-License-Identifier: GPL-2.0
/* links: wire/channel.o */
/* Channels: a channel read is one that IEEE 802.11 defines, and reads the same once printed.
 */
#include "unit.h"

#include "wire/channel.h"

static const struct {
	const char *text;
	struct radio_channel is;
	const char *printed; /* NULL: as given */
} good[] = {
	{ "1", { 2412, 20, 2412 }, NULL },
	{ "13", { 2472, 20, 2472 }, NULL },
	{ "14", { 2484, 20, 2484 }, NULL },
	{ "36", { 5180, 20, 5180 }, NULL },
	{ "177", { 5885, 20, 5885 }, NULL },
	{ "184", { 4920, 20, 4920 }, NULL },
	{ "196", { 4980, 20, 4980 }, NULL },
	{ "6g:1", { 5955, 20, 5955 }, NULL },
	{ "6g:2", { 5935, 20, 5935 }, NULL },
	{ "6g:233", { 7115, 20, 7115 }, NULL },
	{ "2437", { 2437, 20, 2437 }, "6" },
	{ "5975", { 5975, 20, 5975 }, "6g:5" },
	{ "2419", { 2419, 20, 2419 }, NULL },
	{ "6/20", { 2437, 20, 2437 }, "6" },
	{ "6/5", { 2437, 5, 2437 }, NULL },
	{ "2412/10", { 2412, 10, 2412 }, "1/10" },
	{ "6/40+", { 2437, 40, 2447 }, NULL },
	{ "6/40-", { 2437, 40, 2427 }, NULL },
	{ "1/40", { 2412, 40, 2422 }, "1/40+" },
	{ "13/40", { 2472, 40, 2462 }, "13/40-" },
	{ "9/40+", { 2452, 40, 2462 }, NULL },
	{ "36/40", { 5180, 40, 5190 }, NULL },
	{ "40/40", { 5200, 40, 5190 }, NULL },
	{ "44/40", { 5220, 40, 5230 }, NULL },
	{ "36/80", { 5180, 80, 5210 }, NULL },
	{ "48/80", { 5240, 80, 5210 }, NULL },
	{ "144/80", { 5720, 80, 5690 }, NULL },
	{ "149/80", { 5745, 80, 5775 }, NULL },
	{ "165/80", { 5825, 80, 5855 }, NULL },
	{ "64/160", { 5320, 160, 5250 }, NULL },
	{ "100/160", { 5500, 160, 5570 }, NULL },
	{ "149/160", { 5745, 160, 5815 }, NULL },
	{ "6g:5/40", { 5975, 40, 5965 }, NULL },
	{ "6g:37/80", { 6135, 80, 6145 }, NULL },
	{ "6g:37/160", { 6135, 160, 6185 }, NULL },
	{ "6g:37/320", { 6135, 320, 6105 }, NULL },
	{ "6g:37/320-1", { 6135, 320, 6105 }, "6g:37/320" },
	{ "6g:37/320-2", { 6135, 320, 6265 }, NULL },
	{ "6g:221/320", { 7055, 320, 6905 }, NULL },
};

/* The reasons for refusal, and the offset that each text names. */
static const struct {
	const char *text, *why;
} bad[] = {
	{ "", "a number from 1 to 196" },
	{ "x", "a number from 1 to 196" },
	{ "0", "a number from 1 to 196" },
	{ "197", "a number from 1 to 196" },
	{ "999", "a number from 1 to 196" },
	{ "7251", "MHz from 1000" },
	{ "12412", "MHz from 1000" },
	{ "-6", "a number from 1" },
	{ "6 ", "a number from 1" },
	{ "6g:", "6g:1 to 6g:233" },
	{ "6g:0", "6g:1 to 6g:233" },
	{ "6g:234", "6g:1 to 6g:233" },
	{ "5g:36", "a number from 1" },
	{ "36/", "the width must be" },
	{ "36/60", "the width must be" },
	{ "36/0", "the width must be" },
	{ "36/80+", "the width must be" },
	{ "36/80 ", "the width must be" },
	{ "36/20/20", "the width must be" },
	{ "6/40*", "the width must be" },
	{ "6g:37/320-3", "the width must be" },
	{ "6/40", "give 40+ or 40-" },
	{ "36/40+", "no channel of this width" },
	{ "10/40+", "no channel of this width" },
	{ "4/40-", "no channel of this width" },
	{ "14/40-", "no channel of this width" },
	{ "6/80", "no channel of this width" },
	{ "37/40", "no channel of this width" },
	{ "132/160", "no channel of this width" },
	{ "165/160/", "the width must be" },
	{ "36/320", "no channel of this width" },
	{ "6g:233/40", "no channel of this width" },
	{ "6g:225/80", "no channel of this width" },
	{ "6g:221/320-1", "no channel of this width" },
	{ "6g:29/320-2", "no channel of this width" },
	{ "2419/40+", "no channel of this width" },
};

static int parse(struct radio_channel *c, const char *text, const char **why)
{
	char exact[32]; /* no byte after it may be read */
	size_t len = strlen(text);

	memcpy(exact, text, len);
	memset(exact + len, '0', sizeof(exact) - len);
	return channel_parse(c, exact, len, why);
}

static void what_is_a_channel(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct radio_channel c;
		const char *why = "";
		char text[CHANNEL_TEXT_LEN];

		if (parse(&c, good[i].text, &why) || !channel_is(&c, &good[i].is))
			fail_msg("%s: %u %u %u %s", good[i].text, c.mhz, c.width, c.center, why);
		assert_true(channel_is_sound(&c));
		channel_text(text, &c);
		assert_string_equal(text, good[i].printed ?: good[i].text);
	}
}

static void what_is_none(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct radio_channel c;
		const char *why = NULL;

		if (parse(&c, bad[i].text, &why) != -EINVAL || !strstr(why, bad[i].why))
			fail_msg("'%s': %s", bad[i].text, why ?: "was taken");
	}
}

/* Every channel reads back from its printed text. A valid channel contains its primary 20 MHz. */
static void all_there_are(void **state)
{
	static const uint16_t widths[] = { 5, 10, 20, 40, 80, 160, 320 };
	unsigned int count = 0;

	(void)state;
	for (unsigned int mhz = 0; mhz < 8000; mhz++) {
		for (unsigned int w = 0; w < 7; w++) {
			for (int off = -200; off <= 200; off += 5) {
				struct radio_channel c = { mhz, widths[w], mhz + off }, back;
				char text[CHANNEL_TEXT_LEN];
				const char *why;

				if (!channel_is_sound(&c))
					continue;
				count++;
				assert_true(abs(off) <= (widths[w] <= 20 ? 0 : widths[w] / 2 - 10));
				channel_text(text, &c);
				if (channel_parse(&back, text, strlen(text), &why) ||
				    !channel_is(&back, &c))
					fail_msg("%s: %u %u %u", text, c.mhz, c.width, c.center);
			}
		}
	}
	/* Three narrow ones per MHz. 2.4 GHz: 18 of 40 MHz. 5 GHz: 28, 28 and 24 of 40 to 160 MHz,
	 * less those that do not fit. 6 GHz: 58, 56, 56, and 320 MHz twice. */
	assert_int_equal(count, 3 * 6251 + 18 + (28 + 28 + 24) + (58 + 56 + 56 + 48 + 48));
}

static void numbers_are_those_of_frequencies(void **state)
{
	(void)state;
	for (unsigned int n = 1; n <= 196; n++)
		assert_int_equal(channel_number(channel_mhz(n)), n);
	assert_int_equal(channel_mhz(0), 0);
	assert_int_equal(channel_mhz(197), 0);
	assert_int_equal(channel_number(2413), 0);
	assert_int_equal(channel_number(2482), 0);
	assert_int_equal(channel_number(5925), 0);
	assert_int_equal(channel_number(7125), 0);
	assert_int_equal(channel_number(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_a_channel),
		cmocka_unit_test(what_is_none),
		cmocka_unit_test(all_there_are),
		cmocka_unit_test(numbers_are_those_of_frequencies),
	};

	return cmocka_run_group_tests_name("channel", tests, NULL, NULL);
}
