/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One saluki an interface: a lock named for the interface and its network namespace, below
 * /run/saluki. The folder of pins alone does not do: `ip netns exec` hides it behind a /sys of its
 * own, namespaces may share one, and not every source has pins. A radio whose channels a run may
 * change has a lock of that kind too, however many interfaces it has; so do an interface's modules,
 * and the events of each.
 */
#ifndef AGENT_INTERFACE_LOCK_H
#define AGENT_INTERFACE_LOCK_H

#include <stdint.h>
#include <sys/types.h>

#define LOCK_ROOT "/run/saluki"
#define LOCK_PATH_MAX 96
#define LOCK_EVENTS ".events."

struct lock {
	int fd; /* -1: not held */
	char path[LOCK_PATH_MAX];
};

/* As before lock_take and after lock_release. */
void lock_zero(struct lock *l);
/* Of an interface, with ""; of a radio, with ".radio"; of a module's events, with LOCK_EVENTS
 * "NAME". Returns 0, also where there is no /run to lock in, or -errno after a line: -EWOULDBLOCK
 * where another saluki has it. */
int lock_take(struct lock *l, const char *interface, const char *suffix);
/* The same, and waits for who has it: what they do takes no time to speak of. */
int lock_wait(struct lock *l, const char *interface, const char *suffix);
void lock_release(struct lock *l);

/* The inode of the network namespace that we are in, 0 where that is not known: without /proc, and
 * before Linux 3.0. */
uint32_t lock_namespace(void);
/* Path of a file of the interface in this namespace: "" for the lock, ".sock" for control. */
void lock_path(char out[LOCK_PATH_MAX], const char *interface, const char *suffix);

#endif
