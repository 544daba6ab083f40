/* SPDX-License-Identifier: GPL-2.0 */
/* What sampler.c, which decides where radios listen, has of sampler_tell.c, which tells of it. */
#ifndef AGENT_RADIO_SAMPLER_PARTS_H
#define AGENT_RADIO_SAMPLER_PARTS_H

#include "sampler.h"

/* Frames that the hook has seen so far. */
uint64_t sampler_seen(const struct sampler *s, unsigned int i);
/* It listens where it is since `at_ns`. */
void sampler_begin(struct sampler *s, unsigned int i, uint64_t at_ns);
/* It has listened until `to_ns`, by when the hook had seen so many; the next part begins there. */
void sampler_tell(struct sampler *s, unsigned int i, uint64_t to_ns, uint64_t seen);
/* The switch that was asked for was made, or failed: the dwell before it is told. */
void sampler_switched(struct sampler *s, unsigned int i, const struct order *o);
/* Nothing comes any more. */
void sampler_last(struct sampler *s, unsigned int i, uint64_t now_ns);

#endif
