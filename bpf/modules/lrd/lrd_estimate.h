/* SPDX-License-Identifier: GPL-2.0 */
/*
 * LRD, the estimate: the outer loop. In: each octave's number of details and sum of squares. Out:
 * the Hurst parameter, its confidence interval, and the octaves used.
 *
 * P. Abry, D. Veitch, "Wavelet Analysis of Long-Range-Dependent Traffic", IEEE Transactions on
 * Information Theory 44(1), 1998; D. Veitch, P. Abry, "A Wavelet-Based Joint Estimator of the
 * Parameters of Long-Range Dependence", the same 45(3), 1999. With n details at octave j and mu
 * the mean of their squares, divided by 2^j, the estimate of log2 of the variance at j is
 *
 *     y = log2 mu - g(n),  g(n) = psi(n/2) / ln 2 - log2(n/2),  var y = zeta(2, n/2) / ln^2 2
 *
 * With long-range dependence, y is a straight line over the octaves, with slope 2 H - 1. The line
 * is fitted with weights 1 / var y. Details are almost uncorrelated, so the counts alone give the
 * slope's variance. `first` is the lowest octave from which a chi-square test at LRD_REFUTED does
 * not reject a line (D. Veitch, P. Abry, M. Taqqu, "On the Automatic Selection of the Onset of
 * Scaling", 2003).
 */
#ifndef BPF_MODULES_LRD_LRD_ESTIMATE_H
#define BPF_MODULES_LRD_LRD_ESTIMATE_H

#include <math.h>
#include <stdbool.h>

#include "lrd.h"

#define LRD_COUNT_LEAST 8   /* fewer details than this are far from normal */
#define LRD_OCTAVES_LEAST 3 /* for a fit */
#define LRD_REFUTED 0.01
#define LRD_NORMAL_95 1.959963984540054 /* 95 % of a normal distribution are within */

struct lrd_estimate {
	double hurst, low, high;  /* 95 % interval */
	unsigned int first, last; /* octaves */
	double fit; /* probability of a fit no better than this, for a straight line */
};

/* ---- functions ------------------------------------------------------------------------------- */

/* psi and zeta(2, x), the derivatives of ln gamma: Abramowitz and Stegun, 6.3.5 and 6.3.18, 6.4.6
 * and 6.4.12. */
static inline double lrd_digamma(double x)
{
	double sum = 0;

	for (; x < 12; x++)
		sum -= 1 / x;
	return sum + log(x) - 1 / (2 * x) - 1 / (12 * x * x) + 1 / (120 * pow(x, 4)) -
	       1 / (252 * pow(x, 6)) + 1 / (240 * pow(x, 8));
}

static inline double lrd_trigamma(double x)
{
	double sum = 0;

	for (; x < 12; x++)
		sum += 1 / (x * x);
	return sum + 1 / x + 1 / (2 * x * x) + 1 / (6 * pow(x, 3)) - 1 / (30 * pow(x, 5)) +
	       1 / (42 * pow(x, 7)) - 1 / (30 * pow(x, 9));
}

/* The share of a chi-square distribution of `degrees` above `x`: for whole numbers of degrees a
 * finite sum (Abramowitz and Stegun, 26.4.4 and 26.4.5). */
static inline double lrd_chi_square_above(double x, unsigned int degrees)
{
	double term = degrees % 2 ? sqrt(2 * x / M_PI) * exp(-x / 2) : exp(-x / 2);
	double sum = degrees % 2 ? erfc(sqrt(x / 2)) : 0;

	for (unsigned int n = degrees % 2 ? 3 : 2; n <= degrees; n += 2) {
		sum += term;
		term *= x / n;
	}
	return sum;
}

/* ---- octaves --------------------------------------------------------------------------------- */

/* log2 of the variance at octave `j`, without a term that all octaves share. */
static inline double lrd_log_variance(const struct lrd_energy *e, unsigned int j)
{
	double n = e->count;

	return log2(e->sum) + 2.0 * e->shift - log2(n) - j -
	       (lrd_digamma(n / 2) / M_LN2 - log2(n / 2));
}

static inline bool lrd_usable(const struct lrd_energy *e)
{
	return e->count >= LRD_COUNT_LEAST && e->sum;
}

/* Fits the line through octaves `first` to `last`. The energies begin with octave 1. */
static inline void lrd_fit(struct lrd_estimate *out, const struct lrd_energy *energies,
			   unsigned int first, unsigned int last)
{
	double s0 = 0, s1 = 0, s2 = 0, sy = 0, sjy = 0, chi_square = 0, det, slope, at_0, half;

	for (unsigned int j = first; j <= last; j++) {
		const struct lrd_energy *e = &energies[j - 1];
		double w = M_LN2 * M_LN2 / lrd_trigamma(e->count / 2.0);
		double y = lrd_log_variance(e, j);

		s0 += w;
		s1 += w * j;
		s2 += w * j * j;
		sy += w * y;
		sjy += w * j * y;
	}
	det = s0 * s2 - s1 * s1;
	slope = (s0 * sjy - s1 * sy) / det;
	at_0 = (s2 * sy - s1 * sjy) / det;
	for (unsigned int j = first; j <= last; j++) {
		const struct lrd_energy *e = &energies[j - 1];
		double off = lrd_log_variance(e, j) - at_0 - slope * j;

		chi_square += off * off * M_LN2 * M_LN2 / lrd_trigamma(e->count / 2.0);
	}
	half = LRD_NORMAL_95 * sqrt(s0 / det) / 2;
	*out = (struct lrd_estimate){ .hurst = (slope + 1) / 2,
				      .low = (slope + 1) / 2 - half,
				      .high = (slope + 1) / 2 + half,
				      .first = first,
				      .last = last,
				      .fit = lrd_chi_square_above(chi_square, last - first - 1) };
}

/* Returns whether an estimate is possible. `first`: the lowest octave, as the user chose; 0: search
 * for it, and if no line fits, take the octave with the best fit. */
static inline bool lrd_estimate(struct lrd_estimate *out, const struct lrd_energy *energies,
				unsigned int first)
{
	unsigned int last = LRD_OCTAVES, begin = first ? first : 1;
	struct lrd_estimate one;

	while (last && !lrd_usable(&energies[last - 1]))
		last--;
	for (unsigned int j = last; j >= begin; j--)
		if (!lrd_usable(&energies[j - 1]))
			begin = j + 1; /* a line has consecutive octaves */
	if (last + 1 < begin + LRD_OCTAVES_LEAST)
		return false;
	lrd_fit(out, energies, begin, last);
	for (unsigned int j = begin + 1; !first && j + LRD_OCTAVES_LEAST <= last + 1; j++) {
		if (out->fit >= LRD_REFUTED)
			break;
		lrd_fit(&one, energies, j, last);
		if (one.fit > out->fit)
			*out = one;
	}
	return true;
}

#endif
