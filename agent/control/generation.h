/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generation: detects that this machine was resumed from a snapshot. Two machines resumed from one
 * snapshot have the same session keys, so each makes new ones as soon as its kernel reports the
 * resume. Source: drivers/virt/vmgenid.c of Linux (since 6.10) sends the uevent variable
 * NEW_VMGENID=1 when the hypervisor changes the virtual machine's generation id.
 */
#ifndef AGENT_CONTROL_GENERATION_H
#define AGENT_CONTROL_GENERATION_H

#include <stdbool.h>

/* Opens a socket for the kernel's uevents, without privilege. Returns -1 on failure: then keys are
 * renewed only by time. The caller closes it. */
int generation_open(void);
/* Reads all waiting uevents. Returns whether one reports a new generation. */
bool generation_changed(int fd);

#endif
