/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generation: whether this machine goes on from a snapshot. Two machines that were resumed from one
 * snapshot hold the same session keys; each makes new ones as soon as its kernel reports the
 * resume. Source: drivers/virt/vmgenid.c of Linux (since 6.10), which sends the uevent variable
 * NEW_VMGENID=1 when the hypervisor has changed the virtual machine's generation id.
 */
#ifndef AGENT_CONTROL_GENERATION_H
#define AGENT_CONTROL_GENERATION_H

#include <stdbool.h>

/* Opens a socket for the kernel's uevents; needs no right. Returns -1 if there is none: then keys
 * are renewed by time alone. The caller closes it. */
int generation_open(void);
/* Reads all uevents that wait. Returns whether one reports a new generation. */
bool generation_changed(int fd);

#endif
