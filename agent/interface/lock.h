/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lock: one saluki per interface. A file in /run/saluki, named after the interface and its network
 * namespace, is locked. A lock on the folder of pins is not enough: `ip netns exec` mounts another
 * /sys, namespaces may share one, and some sources have no pins. A radio whose channels may change
 * has such a lock too, and so have an interface's modules and each module's events. `saluki
 * capture` may work beside the holder, by packet sockets.
 */
#ifndef AGENT_INTERFACE_LOCK_H
#define AGENT_INTERFACE_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LOCK_ROOT "/run/saluki"
#define LOCK_PATH_MAX 96
#define LOCK_EVENTS ".events."

struct lock {
	int fd;		     /* -1: not held */
	bool is_shared;	     /* another saluki holds it: lock_share */
	const char *instead; /* what is then done instead; NULL: nothing */
	char path[LOCK_PATH_MAX];
};

/* The state before lock_take and after lock_release. */
void lock_zero(struct lock *l);
/* `suffix`: "" for an interface, ".radio" for a radio, LOCK_EVENTS "NAME" for a module's events.
 * Returns 0, also without a /run, or -errno after a line: -EWOULDBLOCK if another saluki has the
 * lock. */
int lock_take(struct lock *l, const char *interface, const char *suffix);
/* The same for an interface, but if another saluki has the lock, logs what is done `instead`, and
 * returns 0 with is_shared. */
int lock_share(struct lock *l, const char *interface, const char *instead);
/* As lock_take, but waits for the lock, which is held briefly. */
int lock_wait(struct lock *l, const char *interface, const char *suffix);
void lock_release(struct lock *l);

/* Returns the inode of the current network namespace, or 0 if not known: without /proc, and before
 * Linux 3.0. */
uint32_t lock_namespace(void);
/* Writes the path of the interface's file in this namespace: "" for the lock, ".sock" for
 * control. */
void lock_path(char out[LOCK_PATH_MAX], const char *interface, const char *suffix);

#endif
