// SPDX-License-Identifier: GPL-2.0
/*
 * links:
 *
 * The estimate of the Hurst parameter (bpf/modules/lrd/lrd_estimate.h): its functions against
 * tables, and lines made to be found. tests/bpf/test_lrd.py tests it on noise with a known
 * parameter.
 */
#include "unit.h"

#include "bpf/modules/lrd/lrd_estimate.h"

static void assert_near(double got, double wanted, double within)
{
	if (!(fabs(got - wanted) <= within))
		fail_msg("%.12g, not %.12g", got, wanted);
}

/* psi(1) = -gamma, psi(1/2) = -gamma - 2 ln 2, zeta(2, 1) = pi^2/6, zeta(2, 1/2) = pi^2/2. */
static void test_functions(void **state)
{
	const double gamma = 0.57721566490153286;

	(void)state;
	assert_near(lrd_digamma(1), -gamma, 1e-11);
	assert_near(lrd_digamma(.5), -gamma - 2 * M_LN2, 1e-11);
	assert_near(lrd_digamma(1001), lrd_digamma(1000) + 1e-3, 1e-12);
	assert_near(lrd_trigamma(1), M_PI * M_PI / 6, 1e-11);
	assert_near(lrd_trigamma(.5), M_PI * M_PI / 2, 1e-11);
	assert_near(lrd_trigamma(1001), lrd_trigamma(1000) - 1e-6, 1e-12);
}

/* The 95 % and 99 % points of the usual table. */
static void test_chi_square(void **state)
{
	static const struct {
		unsigned int degrees;
		double at_5, at_1;
	} table[] = { { 1, 3.841459, 6.634897 },   { 2, 5.991465, 9.210340 },
		      { 3, 7.814728, 11.344867 },  { 4, 9.487729, 13.276704 },
		      { 9, 16.918978, 21.665994 }, { 18, 28.869299, 34.805306 } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_near(lrd_chi_square_above(table[i].at_5, table[i].degrees), .05, 1e-6);
		assert_near(lrd_chi_square_above(table[i].at_1, table[i].degrees), .01, 1e-6);
		assert_near(lrd_chi_square_above(0, table[i].degrees), 1, 1e-12);
	}
	assert_near(lrd_chi_square_above(1e6, 5), 0, 0);
}

/* Energies whose logarithms, without bias, lie on a line of this parameter, and are `off` at the
 * first octaves. */
static void make(struct lrd_energy *e, double hurst, unsigned int octaves, unsigned int bent,
		 double off)
{
	memset(e, 0, LRD_OCTAVES * sizeof(*e));
	for (unsigned int j = 1; j <= octaves; j++) {
		double n = ldexp(8, octaves - j), y = (2 * hurst - 1) * j + 20;

		y += lrd_digamma(n / 2) / M_LN2 - log2(n / 2) + (j <= bent ? off : 0);
		e[j - 1].count = n;
		e[j - 1].shift = j / 2; /* with any shift */
		e[j - 1].sum = llround(exp2(y + log2(n) + j - 2.0 * (j / 2)));
	}
}

static void test_lines(void **state)
{
	static const double hursts[] = { .5, .6, .75, .9 };
	struct lrd_energy e[LRD_OCTAVES];
	struct lrd_estimate out;

	(void)state;
	for (size_t i = 0; i < sizeof(hursts) / sizeof(hursts[0]); i++) {
		for (unsigned int octaves = 3; octaves <= LRD_OCTAVES; octaves++) {
			make(e, hursts[i], octaves, 0, 0);
			assert_true(lrd_estimate(&out, e, 0));
			assert_near(out.hurst, hursts[i], 1e-4);
			assert_near((out.low + out.high) / 2, out.hurst, 1e-9);
			assert_int_equal(out.first, 1);
			assert_int_equal(out.last, octaves);
			assert_true(out.fit > .99);
		}
	}
}

/* With n_1 = 2^16 details, the interval of octaves 1 to 14 is that of Veitch and Abry's formula,
 * summed here independently: var H = 1/4 S / (S S_2 - S_1^2), S_k = sum n_j ln^2 2 / 2 j^k, nearly.
 */
static void test_interval(void **state)
{
	double s[3] = { 0 }, wanted;
	struct lrd_energy e[LRD_OCTAVES];
	struct lrd_estimate out;

	(void)state;
	make(e, .8, 14, 0, 0);
	assert_true(lrd_estimate(&out, e, 0));
	for (unsigned int j = 1; j <= 14; j++)
		for (unsigned int k = 0; k < 3; k++)
			s[k] += e[j - 1].count * M_LN2 * M_LN2 / 2 * pow(j, k);
	wanted = 1.96 * sqrt(s[0] / (s[0] * s[2] - s[1] * s[1])) / 2;
	assert_near((out.high - out.low) / 2 / wanted, 1, .01);
}

static void test_onset(void **state)
{
	struct lrd_energy e[LRD_OCTAVES];
	struct lrd_estimate out;

	(void)state;
	make(e, .8, 14, 3, 2);
	assert_true(lrd_estimate(&out, e, 0));
	assert_int_equal(out.first, 4);
	assert_near(out.hurst, .8, 1e-4);
	assert_true(lrd_estimate(&out, e, 1)); /* as the user has it */
	assert_int_equal(out.first, 1);
	assert_true(out.fit < LRD_REFUTED);
	assert_true(fabs(out.hurst - .8) > .05);
	assert_true(lrd_estimate(&out, e, 6));
	assert_int_equal(out.first, 6);
}

static void test_too_little(void **state)
{
	struct lrd_energy e[LRD_OCTAVES] = { 0 };
	struct lrd_estimate out;

	(void)state;
	assert_false(lrd_estimate(&out, e, 0));
	make(e, .7, 2, 0, 0);
	assert_false(lrd_estimate(&out, e, 0));
	make(e, .7, 10, 0, 0);
	assert_false(lrd_estimate(&out, e, 9));
	assert_false(lrd_estimate(&out, e, LRD_OCTAVES));
	e[8].sum = 0; /* silence only: no line goes through this octave */
	assert_false(lrd_estimate(&out, e, 0));
	make(e, .7, 10, 0, 0);
	e[2].sum = 0;
	assert_true(lrd_estimate(&out, e, 0));
	assert_int_equal(out.first, 4);
	assert_near(out.hurst, .7, 1e-4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions), cmocka_unit_test(test_chi_square),
		cmocka_unit_test(test_lines),	  cmocka_unit_test(test_interval),
		cmocka_unit_test(test_onset),	  cmocka_unit_test(test_too_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
