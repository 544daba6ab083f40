/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runner: the program that runs modules (bpf/modules.bpf.c), loaded again for each new slot table.
 * In: an interface's slots (slots.h). Out: the current table, or a new one in its place. Always
 * holds: the table is a constant of the running program, so there is one copy, and it changes
 * atomically.
 */
#ifndef AGENT_MODULE_RUNNER_H
#define AGENT_MODULE_RUNNER_H

#include <stdbool.h>

#include "interface_slots.h"

struct modules_bpf;

/* Whether the program is in place. Pins alone do not show it: they may be left from an earlier
 * capture. */
bool runner_is_there(const struct module_slots *s);
/* Reads the table of the program in place. Returns 0 or -errno. */
int runner_table(struct saluki_slot_table *out, const struct module_slots *s);
/* Loads a program with `s->table` and the existing maps of `s`. Returns 0 or -errno. The caller
 * destroys `*skel` with modules_bpf__destroy. */
int runner_load(struct modules_bpf **skel, const struct module_slots *s);
/* Puts it in place. Returns 0 or -errno. */
int runner_put(const struct modules_bpf *skel, const struct module_slots *s);

#endif
