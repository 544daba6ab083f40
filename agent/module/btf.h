/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BTF: checks the type information of an untrusted object. In: the sections .BTF and .BTF.ext. Out:
 * whether every number names an existing type or string, which libbpf 1.1 does not check; and the
 * type of a module's function.
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

/* Whether the function at `offset` of a section is global for the linker. */
typedef bool btf_is_global(const void *of, const char *section, uint32_t offset);

/* Also checks that each function's linkage in BTF is the linker's. The verifier believes BTF: it
 * verifies a global function once, and not at each call. */
int btf_ext_check(const struct btf_types *b, const void *ext, size_t len, btf_is_global *is_global,
		  const void *of, const char **why);

/* Returns the size of the view that the function `name` takes; 0 if it is no function from `struct
 * frame_view *` to int. */
uint32_t btf_view_size(const struct btf_types *b, const char *name);

#endif
