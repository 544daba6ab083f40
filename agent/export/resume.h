/* SPDX-License-Identifier: GPL-2.0 */
/* Takes over where an earlier agent left off: see journal.h. Before the threads start. */
#ifndef AGENT_RESUME_H
#define AGENT_RESUME_H

#include "export.h"

/* The run, its counts, and the combo that may have been sent, which becomes the first in the queue.
 * `source`, `queue`, `session` and `journal` of the exporter are set. Returns 0, or -errno after a
 * line. */
int resume(struct exporter *e);

#endif
