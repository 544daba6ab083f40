/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sweep: goes over all queues in the order of the unified time. Each reception becomes part of a
 * transmission (air/match.h). Decided ones correct the clocks (clock/level.h), and are given.
 * Functions return 0, -ENOMEM, or what the sink said.
 */
#ifndef MERGE_SWEEP_SWEEP_H
#define MERGE_SWEEP_SWEEP_H

#include "state.h"

/* How far the sweep may go. `known`: that of the receptions whose clock is known. */
int64_t sweep_bound(const struct merge *m, bool known);
/* Sweeps receptions before `limit`. If `rehearsed`, they stay in their queues. */
int sweep_to(struct merge *m, int64_t limit, bool rehearsed);
/* Decides transmissions that began before this time. INT64_MAX: all. */
int sweep_decide(struct merge *m, int64_t unified_ns);
/* Gives what nothing can come before any more. */
int sweep_give(struct merge *m, int64_t decided_ns);
/* Decides and gives all before `limit`: somebody waits for it, also if the air is quiet then. */
int sweep_give_all(struct merge *m, int64_t limit);
/* Clocks have changed. */
int sweep_renew(struct merge *m);
/* Goes back to the first reception. */
int sweep_again(struct merge *m);
/* Forgets the transmissions that were decided, and not given. */
void sweep_forget(struct merge *m);

#endif
