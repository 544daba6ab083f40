/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Link: links Saluki's shim with a module's object. libbpf's linker and libelf are not made for
 * untrusted objects, so they run in a process of their own, without privilege, files and network,
 * and with little memory and time. Its output is checked as the module was.
 */
#ifndef AGENT_MODULE_LINK_H
#define AGENT_MODULE_LINK_H

#include "object.h"
#include "shim.h"

#define LINK_WHY_LEN 512
#define LINKED_MAX (4 << 20) /* bytes */

/* Sets `linked` (only its data, which the caller frees). libbpf can open it: that process has
 * tried. Returns 0, or -errno with the reason in `why`. */
int link_module(struct module_object *linked, const struct module_object *o, enum module_hook hook,
		char why[LINK_WHY_LEN]);

#endif
