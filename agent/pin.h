/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pins: one capture an interface, and its maps where bpftool finds them. Always holds: what is
 * pinned or removed under an interface's name is done by who holds its locks.
 */
#ifndef AGENT_PIN_H
#define AGENT_PIN_H

#define PIN_ROOT "/sys/fs/bpf/saluki"
#define PIN_LOCK_ROOT "/run/saluki"

struct pin {
	int lock; /* of the interface in its network namespace, -1 */
	char lock_path[96];
	int dir; /* of the pins, locked too, -1 */
	char path[64];
};

/* A list of them ends with one without a name. */
struct pin_map {
	const char *name;
	int fd; /* -1: not this time; a pin that a killed run left goes */
};

/* As before pin_take and after pin_drop. */
void pin_zero(struct pin *p);
/* Locks the interface, mounts bpffs where nobody has, pins the maps under PIN_ROOT/IF. Returns 0,
 * or -errno after a line: -EWOULDBLOCK where another process captures there. pin_drop is due in any
 * case. */
int pin_take(struct pin *p, const char *interface, const struct pin_map *maps);
/* Takes the pins off, and unlocks. */
void pin_drop(struct pin *p);

#endif
