/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Timers: does the room's work that is due at a time. In: time. Out: ACKs, ended old sessions, the
 * slots of the current interval.
 */
#ifndef COLLECTOR_NETWORK_TIMERS_H
#define COLLECTOR_NETWORK_TIMERS_H

#include "network.h"

/* Does due work. Returns milliseconds until the next call. */
int timers_tick(struct network *o, uint64_t now_ns);

#endif
