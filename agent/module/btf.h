/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BTF: what an object says of its types, of strangers. In: the sections .BTF and .BTF.ext. Out:
 * whether every number in them is one of a type or a string that is there; libbpf 1.1 takes that
 * for granted. And what the type of a module's function is.
 */
#ifndef AGENT_MODULE_BTF_H
#define AGENT_MODULE_BTF_H

#include <linux/btf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf_types {
	const struct btf_type **types; /* [0] is void: NULL */
	uint32_t count;		       /* the highest number */
	const char *strings;
	uint32_t strings_len;
};

/* Both are aligned to 4 bytes. Returns 0, -ENOMEM, or -EBADMSG with a static `why`. */
int btf_open(struct btf_types *b, const void *btf, size_t len, const char **why);
void btf_free(struct btf_types *b);

/* Whether the function at `offset` of a section is one that the linker knows as global. */
typedef bool btf_is_global(const void *of, const char *section, uint32_t offset);

/* Also that no function says of itself that it is global where it is not, or is not where it is:
 * the verifier believes that, goes through a global function once, and not where it is called. */
int btf_ext_check(const struct btf_types *b, const void *ext, size_t len, btf_is_global *is_global,
		  const void *of, const char **why);

/* How large the view is that the function `name` takes; 0 where it does not take just
 * `struct frame_view *` and return an int. */
uint32_t btf_view_size(const struct btf_types *b, const char *name);

#endif
