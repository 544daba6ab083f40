/* SPDX-License-Identifier: GPL-2.0 */
/* What sampler.c, which decides where radios listen, has in common with sampler_tell.c, which tells
 * of it, and sampler_order.c, where the collector has its say. */
#ifndef AGENT_RADIO_SAMPLER_PARTS_H
#define AGENT_RADIO_SAMPLER_PARTS_H

#include <stdbool.h>
#include <stdint.h>

struct order;
struct sampler;
struct sampler_radio;

/* A dwell is over, or there is another plan: goes where it is to listen now. */
void sampler_go_on(struct sampler *s, unsigned int i, uint64_t now_ns);
/* The list is in its plan: makes that whole, and begins. */
void sampler_start_plan(struct sampler *s, unsigned int i, uint64_t now_ns);

/* An order is carried out on radio `i`, if nothing is on its way there, or, `why` not being NULL,
 * it cannot be. Does nothing where none is. */
void sampler_settle(struct sampler *s, unsigned int i, const char *why);

/* Frames that the hook has seen so far. */
uint64_t sampler_seen(const struct sampler *s, unsigned int i);
/* It listens where it is since `at_ns`. */
void sampler_begin(struct sampler *s, unsigned int i, uint64_t at_ns);
/* It has listened until `to_ns`, by when the hook had seen so many; the next part begins there. */
void sampler_tell(struct sampler *s, unsigned int i, uint64_t to_ns, uint64_t seen);
/* Whether it was elsewhere than it was to be, by what the privileged process has found. */
bool sampler_strayed(const struct sampler_radio *r, const struct order *o);
/* The switch that was asked for was made, or failed: the dwell before it is told. */
void sampler_switched(struct sampler *s, unsigned int i, const struct order *o);
/* Nothing comes any more. */
void sampler_last(struct sampler *s, unsigned int i, uint64_t now_ns);

#endif
