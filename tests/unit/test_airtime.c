// SPDX-License-Identifier: GPL-2.0
/* links: merge/output/stats_airtime.o merge/output/stats_spread.o */
/* Air times of frames whose times are in the standard or easily computed by hand, and percentiles
 * of many durations. */
#include "merge/output/stats_airtime.h"
#include "merge/output/stats_spread.h"
#include "unit.h"

#define RATE 0x0c, 0x00, 0x06, 0, 0, 0 /* length 12; FLAGS and RATE */
#define LEGACY(flags, rate) 0, 0, RATE, flags, rate, 0, 0

static double us(const uint8_t *header, size_t len, uint32_t bytes)
{
	struct airtime a;

	airtime_read(&a, header, len);
	return airtime_us(&a, bytes, true);
}

#define US(bytes, ...)                                                                             \
	({                                                                                         \
		static const uint8_t header[] = { __VA_ARGS__ };                                   \
		us(header, sizeof(header), bytes);                                                 \
	})
#define IS(value, expected) assert_true((value) > (expected)-1e-6 && (value) < (expected) + 1e-6)

static void test_legacy_rates(void **state)
{
	(void)state;
	IS(US(14, LEGACY(0, 2)), 192 + 112);	   /* an ACK at 1 Mbit/s */
	IS(US(14, LEGACY(2, 2)), 192 + 112);	   /* 1 Mbit/s has no short preamble */
	IS(US(14, LEGACY(2, 4)), 96 + 56);	   /* 2 Mbit/s, short preamble */
	IS(US(11, LEGACY(0, 22)), 192 + 8);	   /* 11 Mbit/s is DSSS */
	IS(US(14, LEGACY(0, 12)), 44);		   /* 6 Mbit/s */
	IS(US(14, LEGACY(0, 48)), 28);		   /* 24 Mbit/s */
	IS(US(1500, LEGACY(0, 108)), 20 + 4 * 56); /* 54 Mbit/s */
	IS(US(1500, LEGACY(0, 0)), 0);
}

/* MCS 7 at 20 MHz is 65 Mbit/s; at 40 MHz with a short guard interval, MCS 15 is 300. */
static void test_ht(void **state)
{
	(void)state;
	IS(US(1500, 0, 0, 11, 0, 0, 0, 8, 0, 7, 0, 7), 36 + 4 * 47);
	IS(US(1500, 0, 0, 11, 0, 0, 0, 8, 0, 7, 5, 15), 40 + 3.6 * 12);
	IS(US(1500, 0, 0, 11, 0, 0, 0, 8, 0, 0, 0, 7), 0); /* the index is not known */
}

/* VHT: 80 MHz, MCS 9, two streams, short guard interval: 866.7 Mbit/s. HE: 20 MHz, MCS 11: 143.4.
 */
static void test_vht_and_he(void **state)
{
	(void)state;
	IS(US(6500, 0, 0, 20, 0, 0, 0, 0x20, 0, 4, 0, 4, 4, 0x92, 0, 0, 0, 0, 0, 0, 0),
	   44 + 3.6 * 17);
	IS(US(1500, 0, 0, 20, 0, 0, 0, 0x80, 0, 0x20, 0, 0, 0, 0, 11, 0, 0, 0, 0, 1, 0),
	   44 + 13.6 * 7);
}

/* A-MPDU: the number, and no preamble of a later subframe. */
static void test_aggregates(void **state)
{
	static const uint8_t header[] = { 0, 0, 20, 0, 0, 0, 0x18, 0, 7, 0,
					  7, 0, 9,  0, 0, 0, 0,	   0, 0, 0 };
	struct airtime a;

	(void)state;
	airtime_read(&a, header, sizeof(header));
	assert_true(a.aggregates && a.aggregated);
	assert_int_equal(a.aggregate, 9);
	IS(airtime_us(&a, 1622, false), (8 * 1622 + 22) / 65.);
}

static void test_short_headers(void **state)
{
	static const uint8_t header[] = { 0, 0, 12, 0, 6, 0, 0, 0x80, 6, 0, 0, 0 };
	struct airtime a;

	(void)state;
	for (size_t len = 0; len <= sizeof(header); len++) {
		airtime_read(&a, header, len);
		IS(airtime_us(&a, 100, true), 0);
	}
}

static void test_percentiles(void **state)
{
	static struct spread s;
	double v;

	(void)state;
	IS(spread_quantile(&s, .5), 0);
	for (int64_t i = -100000; i <= 300000; i++)
		spread_add(&s, i);
	for (double share = .01; share < 1; share += .01) {
		double exact = -100000 + share * 400000,
		       room = .125 * (exact < 0 ? -exact : exact) + 8;

		v = spread_quantile(&s, share);
		assert_true(v > exact - room && v < exact + room);
	}
	v = spread_size_quantile(&s, .5); /* sizes up to 100,000 are twice as frequent */
	assert_true(v > 95000 && v < 105000);
	spread_add(&s, INT64_MIN);
	spread_add(&s, INT64_MAX);
	assert_true(spread_quantile(&s, 0) < -6e7 && spread_quantile(&s, 1) > 6e7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_legacy_rates),  cmocka_unit_test(test_ht),
		cmocka_unit_test(test_vht_and_he),    cmocka_unit_test(test_aggregates),
		cmocka_unit_test(test_short_headers), cmocka_unit_test(test_percentiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
