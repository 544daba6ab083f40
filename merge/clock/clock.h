/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clock: maps a domain's own time to the unified time, with its uncertainty. A domain is what one
 * clock stamps: a sensor, or a radio with a TSFT. The state is a Kalman filter's: the distance of
 * the two times, and its rate; the rate walks at random. Times are ns.
 */
#ifndef MERGE_CLOCK_CLOCK_H
#define MERGE_CLOCK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct clock {
	bool known;
	bool free;	      /* a radio's own: nobody corrects its rate */
	uint32_t generation;  /* rises when the clock was set, not only corrected */
	int64_t at_ns;	      /* own time of the state */
	int64_t base_ns;      /* unified minus own time at `at_ns`: base_ns + off_ns */
	double off_ns, rate;  /* the rate without unit */
	double steer;	      /* and what follows the collector's clock (anchor.h) */
	double p00, p01, p11; /* their covariance: ns^2, ns, 1 */
	int64_t doubt_ns;     /* from this own time on, */
	double doubt;	      /* p00 is more by this: a step is there. 0: nothing */
	double excess;	      /* corrections' squares, by their variances: a mean */
	unsigned int excesses;
	double jitter;	      /* variance of stamps, ns^2 */
	double last_residual; /* for `jitter` */
	bool has_residual;
};

/* Sets the distance, known to `sd_ns`, and the rate to `sd_rate`. */
void clock_set(struct clock *c, int64_t own_ns, int64_t distance_ns, double sd_ns, double sd_rate);
/* Adds to the distance, from all times on. */
void clock_shift(struct clock *c, int64_t ns);
int64_t clock_unified(const struct clock *c, int64_t own_ns);
/* Returns the variance of clock_unified() in ns^2, without that of the stamp. */
double clock_variance(const struct clock *c, int64_t own_ns);
/* Moves the state to another time. */
void clock_predict(struct clock *c, int64_t own_ns);
/* Returns the own time at a unified time. */
int64_t clock_own(const struct clock *c, int64_t unified_ns);
/* Own time is `ns` more than it was, and unified time stays. */
void clock_own_shifted(struct clock *c, int64_t ns);
/* From a later own time on, the distance is known to `sd_ns` only. */
void clock_doubt(struct clock *c, int64_t own_ns, double sd_ns);
/* Takes a measurement at the state's time: the unified time was `error_ns` more. Variances are
 * put right by what measurements were off before. */
void clock_correct(struct clock *c, double error_ns, double variance);
/* Takes the difference of a stamp to what others say. */
void clock_jitter(struct clock *c, double residual_ns);

#endif
