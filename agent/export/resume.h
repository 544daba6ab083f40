/* SPDX-License-Identifier: GPL-2.0 */
/* Resume: continues where an earlier agent stopped: see journal.h. Before the threads start. */
#ifndef AGENT_RESUME_H
#define AGENT_RESUME_H

#include "export.h"

/* Restores the run, its counts, and the combo that may have been sent, as the first one in the
 * queue. Call it after export_init(). Returns 0, or -errno after a line. */
int resume(struct exporter *e);

#endif
