// SPDX-License-Identifier: GPL-2.0
/* Solve: see solve.h. */
#include "solve.h"

#include <math.h>
#include <string.h>

#define ITERATIONS 40
#define ENOUGH 1e-10	      /* of the residual's square */
#define FLOOR (400.0 * 400.0) /* variance of a correction, ns^2 */
#define PRIOR_TIMES 400
#define PRIOR (20e3 * 20e3)

/* out += for each member: weight (value - mean of its group). `of` NULL: values are off_ns. */
static void centred(const struct level *l, const double *of, double *out, double sign)
{
	for (uint32_t n = 0; n < l->group_count; n++) {
		const struct level_group *g = &l->groups[n];
		const struct level_member *m = &l->members[g->first];
		double mean = 0;

		for (uint32_t i = 0; i < g->count; i++)
			mean += m[i].weight * (of ? of[m[i].slot] : m[i].off_ns);
		mean /= g->weight;
		for (uint32_t i = 0; i < g->count; i++)
			out[m[i].slot] +=
				sign * m[i].weight * ((of ? of[m[i].slot] : m[i].off_ns) - mean);
	}
}

static double dot(const double *a, const double *b, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static double prior(const struct clocks *c, const struct level *l, uint32_t slot)
{
	return 1 / (PRIOR_TIMES * c->list[l->domains[slot]]->clock.p00 + PRIOR);
}

/* Conjugate gradients, with the diagonal as preconditioner. */
static void solve(const struct level *l, const struct clocks *c)
{
	uint32_t n = l->slot_count;
	double *x = epoch_vector(l, X), *r = epoch_vector(l, RESIDUAL),
	       *p = epoch_vector(l, DIRECTION);
	double *ap = epoch_vector(l, PRODUCT), *diagonal = epoch_vector(l, DIAGONAL);
	double rz = 0, first;

	memset(x, 0, n * sizeof(*x));
	memset(r, 0, n * sizeof(*r));
	centred(l, NULL, r, -1);
	for (uint32_t i = 0; i < n; i++) {
		diagonal[i] += prior(c, l, i);
		p[i] = r[i] / diagonal[i];
		rz += r[i] * p[i];
	}
	first = rz;
	for (int k = 0; k < ITERATIONS && rz > ENOUGH * first; k++) {
		double alpha, next = 0;

		for (uint32_t i = 0; i < n; i++)
			ap[i] = p[i] * prior(c, l, i);
		centred(l, p, ap, 1);
		alpha = rz / dot(p, ap, n);
		for (uint32_t i = 0; i < n; i++) {
			x[i] += alpha * p[i];
			r[i] -= alpha * ap[i];
			next += r[i] * r[i] / diagonal[i];
		}
		for (uint32_t i = 0; i < n; i++)
			p[i] = r[i] / diagonal[i] + next / rz * p[i];
		rz = next;
	}
}

/* Adds the other domains' own errors to the variance of a domain's correction. These errors are the
 * same in all groups of an epoch, so more groups do not make them smaller. Without this, the stated
 * uncertainty of clocks would fall long before their errors do. */
static void doubts(const struct level *l, const struct clocks *c)
{
	double *doubt = epoch_vector(l, VARIANCE), *diagonal = epoch_vector(l, DIAGONAL);

	for (uint32_t n = 0; n < l->group_count; n++) {
		const struct level_group *g = &l->groups[n];
		const struct level_member *m = &l->members[g->first];
		double sum = 0;

		for (uint32_t i = 0; i < g->count; i++)
			sum += m[i].weight * m[i].weight * c->list[m[i].domain]->clock.p00;
		for (uint32_t i = 0; i < g->count; i++) {
			double own = m[i].weight * m[i].weight * c->list[m[i].domain]->clock.p00;
			double others = g->weight - m[i].weight;

			doubt[m[i].slot] += m[i].weight * (sum - own) / (others * others);
		}
	}
	for (uint32_t i = 0; i < l->slot_count; i++)
		doubt[i] /= diagonal[i] > 0 ? diagonal[i] : 1;
}

/* Sets the domains' weights, and moves the clocks to the mean times of their members. */
static void weigh(struct level *l, struct clocks *c)
{
	double *diagonal = epoch_vector(l, DIAGONAL), *when = epoch_vector(l, WHEN);

	for (uint32_t i = 0; i < l->slot_count; i++)
		diagonal[i] = when[i] = epoch_vector(l, VARIANCE)[i] = 0;
	for (uint32_t n = 0; n < l->group_count; n++) {
		const struct level_group *g = &l->groups[n];

		for (uint32_t i = 0; i < g->count; i++) {
			const struct level_member *m = &l->members[g->first + i];

			diagonal[m->slot] += m->weight;
			when[m->slot] += m->weight * (m->own_ns - c->list[m->domain]->clock.at_ns);
		}
	}
	for (uint32_t i = 0; i < l->slot_count; i++) {
		struct clock *k = &c->list[l->domains[i]]->clock;

		if (diagonal[i] > 0)
			clock_predict(k, k->at_ns + llrint(when[i] / diagonal[i]));
	}
}

void solve_epoch(struct level *l, struct clocks *c)
{
	double *diagonal = epoch_vector(l, DIAGONAL), *variance = epoch_vector(l, VARIANCE);

	weigh(l, c);
	doubts(l, c);
	solve(l, c);
	for (uint32_t i = 0; i < l->slot_count; i++) {
		double weight = diagonal[i] - prior(c, l, i);

		variance[i] = weight > 0 ? 1 / weight + variance[i] + FLOOR : 0;
	}
}
