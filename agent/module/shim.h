/* SPDX-License-Identifier: GPL-2.0 */
/* Shims (bpf/module.h), compiled by clang: a program for each hook, which calls the module. */
#ifndef AGENT_MODULE_SHIM_H
#define AGENT_MODULE_SHIM_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum module_hook { MODULE_XDP, MODULE_TC };

struct module_shim {
	const char *section; /* of its program, which is named saluki_ and this */
	const uint8_t *data;
	size_t len;
};

struct module_shim module_shim(enum module_hook hook);
/* Returns the number of its instructions before the module's. */
size_t module_shim_insns(enum module_hook hook);
/* Whether a linked program begins with these instructions, except for the numbers of map and
 * function. The process that links is not trusted. */
bool module_shim_is(enum module_hook hook, const struct bpf_insn *insns);

#endif
