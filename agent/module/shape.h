/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shape: what a module's object consists of, section by section. In: an object that can be read
 * (elf.h). Out: whether it is one function `int module(struct frame_view *v)`, maps, and nothing
 * else; and what its instructions want. The same is asked of the object that is linked with the
 * shim, before libbpf opens it for the kernel.
 */
#ifndef AGENT_MODULE_SHAPE_H
#define AGENT_MODULE_SHAPE_H

#include "elf.h"
#include "lines.h"
#include "wants.h"

#define SHAPE_FUNCTION "module"
#define SHAPE_VIEW "saluki_view"

/* `shim`: the name of the shim's section and, with saluki_ before it, of its function, in an object
 * that is linked; NULL: it is not. Each thing that a module must not have is a line. Returns 0,
 * also with such lines, or -EBADMSG where BTF or an instruction cannot be read, after a line. */
int shape_check(const struct elf *e, const char *shim, struct module_wants *w,
		struct module_lines *l);

#endif
