/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runner: the program that runs modules (bpf/modules.bpf.c), made anew for each table of them that
 * comes into force. In: an interface's slots (slots.h). Out: the table that is in force, or another
 * in its place. Always holds: the table is constants of the program in the place, so that there is
 * one truth of it, and it changes at once.
 */
#ifndef AGENT_MODULE_RUNNER_H
#define AGENT_MODULE_RUNNER_H

#include <stdbool.h>

#include "interface_slots.h"

struct modules_bpf;

/* Whether it is in its place. Pins alone do not say so: they may be left of an earlier capture. */
bool runner_is_there(const struct module_slots *s);
/* Reads the table of that which is in its place. Returns 0 or -errno. */
int runner_table(struct saluki_slot_table *out, const struct module_slots *s);
/* Loads one of `s->table`, with those maps of `s` that are there. Returns 0 or -errno; the caller
 * destroys `*skel` with modules_bpf__destroy. */
int runner_load(struct modules_bpf **skel, const struct module_slots *s);
/* Puts it into its place. Returns 0 or -errno. */
int runner_put(const struct modules_bpf *skel, const struct module_slots *s);

#endif
