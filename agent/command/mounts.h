/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mounts: where pins are seen, and how long they stay. bpffs belongs to a mount namespace. Where
 * that is one of a single command, as `ip netns exec` makes it, all pins in it end with the
 * command.
 */
#ifndef AGENT_MOUNTS_H
#define AGENT_MOUNTS_H

/* Mounts bpffs if need be. Returns 0, or -errno after a line: -EXDEV where all that is pinned would
 * end with this process. Says it where that is another process's to decide. */
int mounts_last(const char *command);
/* `saluki status` has not found the interface, or none where it is NULL: says where else to look.
 */
void mounts_say_elsewhere(const char *interface);

#endif
