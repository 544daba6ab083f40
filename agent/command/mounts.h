/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mounts: where pins are visible, and how long they live. bpffs belongs to a mount namespace. If
 * that is of a single command, as with `ip netns exec`, all pins end with the command.
 */
#ifndef AGENT_MOUNTS_H
#define AGENT_MOUNTS_H

/* Mounts bpffs if necessary. Returns 0, or -errno after a line: -EXDEV if all pins would end with
 * this process. Logs a line if they would end with another process. */
int mounts_last(const char *command);
/* For `saluki status` that found no pins of `interface` (NULL: of any): logs where else to look.
 */
void mounts_say_elsewhere(const char *interface);

#endif
