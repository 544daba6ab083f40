/* SPDX-License-Identifier: GPL-2.0 */
/* Shims (bpf/module.h), as clang has made them: a program for each hook, which calls the module. */
#ifndef AGENT_MODULE_SHIM_H
#define AGENT_MODULE_SHIM_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum module_hook { MODULE_XDP, MODULE_TC };

struct module_shim {
	const char *section; /* of its program, whose name has saluki_ before it */
	const uint8_t *data;
	size_t len;
};

struct module_shim module_shim(enum module_hook hook);
/* How many instructions it has in front of the module's. */
size_t module_shim_insns(enum module_hook hook);
/* Whether as many instructions of a linked program are those, but for which map and function are
 * meant: what links is not to be believed. */
bool module_shim_is(enum module_hook hook, const struct bpf_insn *insns);

#endif
