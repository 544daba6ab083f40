/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Load: a checked module into a slot, and out of it. In: what check.h has let through. Out: it runs
 * on every frame from then on, or no more. Always holds: no frame is missed by the capture; of a
 * module that is replaced each frame is seen by the old one or by the new one.
 */
#ifndef AGENT_MODULE_LOAD_H
#define AGENT_MODULE_LOAD_H

#include "check.h"
#include "slots.h"

/* In the place of the one of its name, where there is one. Returns 0, or -errno after a line. */
int module_load(struct module_slots *s, const struct module_checked *c);
/* Returns 0, or -errno after a line. */
int module_unload(struct module_slots *s, const char *name);

#endif
