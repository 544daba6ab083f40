/* SPDX-License-Identifier: GPL-2.0 */
/* Removes the lock files and control sockets of killed agents. Each start does this, as the next
 * agent of the same interface and network namespace may never come. */
#ifndef AGENT_INTERFACE_LOCK_SWEEP_H
#define AGENT_INTERFACE_LOCK_SWEEP_H

void lock_sweep(void);

#endif
