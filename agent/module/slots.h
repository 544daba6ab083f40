/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots: what runs modules on one interface, as `saluki module` finds it by its pins beside those
 * of the capture (agent/tap/pin.h):
 *
 *     module_counts, module_limits, module_consumers, module_view   each with _xdp or _tc: what
 *                                     every bpf/modules.bpf.c takes over from the one before it
 *     module:NAME, module:NAME:MAP    a module's program, and its maps
 *     module_events:NAME              the ring of who reads its events here (consume.h)
 *
 * In: an interface that is captured. Out: the table of modules, to read or to change. Always holds:
 * who changes it has a lock; every frame sees the table as it was or as it is to be.
 */
#ifndef AGENT_MODULE_SLOTS_H
#define AGENT_MODULE_SLOTS_H

#include <stdbool.h>

#include "interface_slots.h"

/* As before module_slots_open and after module_slots_close. */
void module_slots_zero(struct module_slots *s);
/* `changes`: takes the lock, and what a load that was killed has left out of free slots. Returns 0,
 * also where no module was ever loaded: then `table` is empty; or -errno after a line. */
int module_slots_open(struct module_slots *s, const char *interface, bool changes);
/* Loads what runs modules, where it is not there yet. Returns 0, or -errno after a line. */
int module_slots_make(struct module_slots *s);
/* Puts `table` into force, in two steps: what the kernel may refuse, and after which all is as
 * before; and the rest. When that returns no frame sees the table before. Both return 0 or -errno;
 * -ESTALE: the capture has another place for modules now, and no frame sees this one. */
int module_slots_ready(struct module_slots *s);
int module_slots_run(struct module_slots *s);
/* Takes the program out of slot `i`. */
void module_slots_remove(const struct module_slots *s, unsigned int i);
/* The number of a module's slot, or of a free one with NULL; -ENOENT: there is none. */
int module_slots_find(const struct module_slots *s, const char *name);
/* What became of slot `i` on all CPUs. Returns 0 or -errno. */
int module_slots_counters(const struct module_slots *s, unsigned int i,
			  struct saluki_slot_counters *out);
/* Whose events go into the ring `ring_fd`, too; -1: into none. When it returns no program uses the
 * ring that was there. Returns 0 or -errno. */
int module_slots_consumer(const struct module_slots *s, unsigned int i, int ring_fd);
/* Sets them to zero: of a slot that no module is in. */
int module_slots_clear_counters(const struct module_slots *s, unsigned int i);
void module_slots_close(struct module_slots *s);

#endif
