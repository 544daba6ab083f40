/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pins: the parts of an interface's capture that outlive an agent, for later agents and bpftool, in
 * /sys/fs/bpf/saluki/IF/:
 *
 *     ring, wakeup, mapped, journal   maps that all interfaces of a run share (maps.h)
 *     counters, config, filter        the interface's own (attach_maps.h)
 *     link, program                   XDP; with tc link_ingress, link_egress, ... (hook.h)
 *
 * Always holds: only the holder of the interface's lock (lock.h) and the folder's lock changes an
 * interface's pins.
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

/* The state before pin_take and after pin_release. */
void pin_zero(struct pin *p);
bool pin_is_mounted(void);
/* Mounts bpffs if the init system has not, as iproute2 and bpftool do. Returns 1 if it did, 0 if
 * bpffs was there, or -errno. */
int pin_mount(void);
/* Makes and locks the folder of an interface. Returns 0, or -errno after a line: -EWOULDBLOCK if
 * another saluki has it. */
int pin_take(struct pin *p, const char *interface);
/* Unlocks, and removes the folder if empty. */
void pin_release(struct pin *p);

/* Pins `fd`, and atomically replaces an object of this name. Returns 0 or -errno.
 */
int pin_put(const struct pin *p, const char *name, int fd);
/* Renames a pin, and replaces one named `to`. Returns 0 or -errno. */
int pin_rename(const struct pin *p, const char *from, const char *to);
/* Returns a descriptor of the object with this name, or -errno. */
int pin_get(const struct pin *p, const char *name);
void pin_remove(const struct pin *p, const char *name);
/* Whether there are no pins. */
bool pin_is_empty(const struct pin *p);
/* Removes all pins of modules (agent/module/slots.h), */
void pin_clear_modules(const struct pin *p);
/* and all pins of the interface. */
void pin_clear(const struct pin *p);

/* The path of an interface's pins. bpffs allows no dots (eth0.100), so they become colons. */
void pin_path(char *out, int size, const char *interface);

#endif
