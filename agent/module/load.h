/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Load: puts a checked module into a slot, and takes it out. In: a module that check.h accepted.
 * Out: the module runs on every frame, or no longer. Always holds: the capture misses no frame.
 * When a module is replaced, each frame meets the old one or the new one.
 */
#ifndef AGENT_MODULE_LOAD_H
#define AGENT_MODULE_LOAD_H

#include "check.h"
#include "slots.h"

/* Replaces a module of the same name. Returns 0, or -errno after a line. */
int module_load(struct module_slots *s, const struct module_checked *c);
/* Returns 0, or -errno after a line. */
int module_unload(struct module_slots *s, const char *name);

#endif
