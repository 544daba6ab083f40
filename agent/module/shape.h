/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shape: checks a module's object section by section. In: an object that elf.h accepted. Out:
 * whether it has one function `int module(struct frame_view *v)`, maps, and nothing else; and its
 * instructions' wants. The object linked with the shim is checked the same way before libbpf opens
 * it.
 */
#ifndef AGENT_MODULE_SHAPE_H
#define AGENT_MODULE_SHAPE_H

#include "elf.h"
#include "lines.h"
#include "wants.h"

#define SHAPE_FUNCTION "module"
#define SHAPE_VIEW "saluki_view"

/* `shim`: in a linked object, the name of the shim's section and, after saluki_, of its function;
 * NULL: not linked. Prints a line for each forbidden item. Returns 0, also after such lines, or
 * -EBADMSG after a line if BTF or an instruction cannot be read. */
int shape_check(const struct elf *e, const char *shim, struct module_wants *w,
		struct module_lines *l);

#endif
