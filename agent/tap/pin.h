/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pins: what of an interface's capture outlives an agent, and where bpftool finds it, below
 * /sys/fs/bpf/saluki/IF/:
 *
 *     ring, wakeup, mapped, journal   maps that all interfaces of a run share (maps.h)
 *     counters, config, filter        the interface's own (attach_maps.h)
 *     link, program                   XDP; with tc link_ingress, link_egress, ... (hook.h)
 *
 * Always holds: what is pinned or removed under an interface's name is done by who holds its lock
 * (lock.h) and the folder's.
 */
#ifndef AGENT_PIN_H
#define AGENT_PIN_H

#include <stdbool.h>

#define PIN_MOUNT "/sys/fs/bpf"
#define PIN_ROOT PIN_MOUNT "/saluki"

struct pin {
	int dir; /* the folder of pins, opened and locked, -1 */
	char path[64];
};

/* As before pin_take and after pin_release. */
void pin_zero(struct pin *p);
bool pin_is_mounted(void);
/* Mounts bpffs where no init system has done it, as iproute2 and bpftool do. Returns 1 where it has
 * done so, 0 where it was there, or -errno. */
int pin_mount(void);
/* Makes the folder of an interface and locks it. Returns 0, or -errno after a line: -EWOULDBLOCK
 * where another saluki has it. */
int pin_take(struct pin *p, const char *interface);
/* Unlocks; the folder goes where it is empty. */
void pin_release(struct pin *p);

/* Pins `fd`, in the place of what has the name, which is never gone meanwhile. Returns 0 or -errno.
 */
int pin_put(const struct pin *p, const char *name, int fd);
/* In the place of what has the name `to`. Returns 0 or -errno. */
int pin_rename(const struct pin *p, const char *from, const char *to);
/* Returns a descriptor of what has the name, or -errno. */
int pin_get(const struct pin *p, const char *name);
void pin_remove(const struct pin *p, const char *name);
/* Whether nothing is pinned. */
bool pin_is_empty(const struct pin *p);
/* Removes all that have to do with modules (agent/module/slots.h), */
void pin_clear_modules(const struct pin *p);
/* and all pins of the interface. */
void pin_clear(const struct pin *p);

/* The folder of an interface's pins: bpffs takes no dots (eth0.100), they become colons. */
void pin_path(char *out, int size, const char *interface);

#endif
