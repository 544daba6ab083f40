/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Link: the operator's shim and a module's object become one. libbpf's linker and libelf are not
 * made for objects of strangers, so they see this one in a process of its own: without privilege,
 * files and network, and with little memory and time. What it says is looked at as the module was.
 */
#ifndef AGENT_MODULE_LINK_H
#define AGENT_MODULE_LINK_H

#include "object.h"
#include "shim.h"

#define LINK_WHY_LEN 512
#define LINKED_MAX (4 << 20) /* bytes */

/* `linked` (its data alone, freed by the caller) can be opened by libbpf, which has been tried
 * there. Returns 0, or -errno with the reason in `why`. */
int link_module(struct module_object *linked, const struct module_object *o, enum module_hook hook,
		char why[LINK_WHY_LEN]);

#endif
