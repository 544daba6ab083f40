/* SPDX-License-Identifier: GPL-2.0 */
/* Rehearse: at the start, clocks are known to 100 us only. They learn from the first receptions,
 * while others are still sought, which share less. Then all begins again at the first reception. */
#ifndef MERGE_SWEEP_REHEARSE_H
#define MERGE_SWEEP_REHEARSE_H

#include "state.h"

/* Goes on, until m->rehearsed. Returns 0 or -ENOMEM. */
int rehearse(struct merge *m);
/* Nothing more comes. */
int rehearse_finish(struct merge *m);

#endif
