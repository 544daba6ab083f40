/* SPDX-License-Identifier: GPL-2.0 */
#ifndef AGENT_PROGRAMS_GRACE_PERIOD_H
#define AGENT_PROGRAMS_GRACE_PERIOD_H

/* Waits until every CPU has left what it was doing under RCU: BPF programs that were running when
 * this was called have ended. */
void grace_period(void);

#endif
