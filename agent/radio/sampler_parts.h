/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by sampler.c, which chooses channels, sampler_tell.c, which reports dwells, and
 * sampler_order.c, which carries out orders. */
#ifndef AGENT_RADIO_SAMPLER_PARTS_H
#define AGENT_RADIO_SAMPLER_PARTS_H

#include <stdbool.h>
#include <stdint.h>

struct order;
struct sampler;
struct sampler_radio;

/* After a dwell or with a new plan: requests the next channel. */
void sampler_go_on(struct sampler *s, unsigned int i, uint64_t now_ns);
/* Completes a new plan, and starts it. */
void sampler_start_plan(struct sampler *s, unsigned int i, uint64_t now_ns);

/* Notes that radio `i` has done the current order, unless a request is open; with `why` not NULL:
 * has failed. Does nothing without an order. */
void sampler_settle(struct sampler *s, unsigned int i, const char *why);

/* Returns the frames that the hook has seen so far. */
uint64_t sampler_seen(const struct sampler *s, unsigned int i);
/* It has listened to its channel since `at_ns`. */
void sampler_begin(struct sampler *s, unsigned int i, uint64_t at_ns);
/* Reports that it listened until `to_ns`, with the hook's frames at that time. The next part begins
 * there. */
void sampler_tell(struct sampler *s, unsigned int i, uint64_t to_ns, uint64_t seen);
/* Whether the privileged process found it on a wrong channel. */
bool sampler_strayed(const struct sampler_radio *r, const struct order *o);
/* The requested switch was made or failed: reports the dwell before it. */
void sampler_switched(struct sampler *s, unsigned int i, const struct order *o);
/* No more calls follow. */
void sampler_last(struct sampler *s, unsigned int i, uint64_t now_ns);

#endif
