/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots: the modules of one interface. `saluki module` finds them by pins beside the capture's
 * (agent/tap/pin.h):
 *
 *     module_counts, module_limits, module_consumers, module_view   each with _xdp or _tc: what
 *                                     every bpf/modules.bpf.c takes over from the one before it
 *     module:NAME, module:NAME:MAP    a module's program, and its maps
 *     module_events:NAME              the ring of who reads its events here (consume.h)
 *
 * In: an interface with a capture. Out: the table of modules, to read or to change. Always holds: a
 * change needs the lock; every frame meets the old table or the new one.
 */
#ifndef AGENT_MODULE_SLOTS_H
#define AGENT_MODULE_SLOTS_H

#include <stdbool.h>

#include "interface_slots.h"

/* The state before module_slots_open and after module_slots_close. */
void module_slots_zero(struct module_slots *s);
/* `changes`: takes the lock, and removes from free slots what a killed load left. Returns 0, also
 * if no module was ever loaded, with an empty `table`; or -errno after a line. */
int module_slots_open(struct module_slots *s, const char *interface, bool changes);
/* Loads the program that runs modules, if it is not there yet. Returns 0, or -errno after a
 * line. */
int module_slots_make(struct module_slots *s);
/* Activate `table` in two steps. The first does all that the kernel may refuse, and changes nothing
 * for frames. The second switches: when it returns, no frame meets the old table. Both return 0 or
 * -errno; -ESTALE: the capture now uses another table, and no frame meets this one. */
int module_slots_ready(struct module_slots *s);
int module_slots_run(struct module_slots *s);
/* Removes the program from slot `i`. */
void module_slots_remove(const struct module_slots *s, unsigned int i);
/* Returns a module's slot, or with NULL a free one; -ENOENT: none. */
int module_slots_find(const struct module_slots *s, const char *name);
/* Sums the counters of slot `i` over all CPUs. Returns 0 or -errno. */
int module_slots_counters(const struct module_slots *s, unsigned int i,
			  struct saluki_slot_counters *out);
/* Copies the slot's events into the ring `ring_fd`; -1: into none. When it returns, no program uses
 * the old ring. Returns 0 or -errno. */
int module_slots_consumer(const struct module_slots *s, unsigned int i, int ring_fd);
/* Sets the counters of an empty slot to zero. */
int module_slots_clear_counters(const struct module_slots *s, unsigned int i);
void module_slots_close(struct module_slots *s);

#endif
