/* SPDX-License-Identifier: GPL-2.0 */
#ifndef AGENT_PROGRAMS_GRACE_PERIOD_H
#define AGENT_PROGRAMS_GRACE_PERIOD_H

/* Waits for an RCU grace period: BPF programs that were running at the call have ended. */
void grace_period(void);

#endif
