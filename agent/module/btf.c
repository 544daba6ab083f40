// SPDX-License-Identifier: GPL-2.0
/* BTF: see btf.h. The kernel's documentation has the format (bpf/btf.rst). */
#include "btf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_LEN_MAX 4096 /* for 256 functions (BPF_MAX_SUBPROGS), and sections */

static const char cut[] = "its types end in the middle";

/* ---- types ----------------------------------------------------------------------------------- */

/* Returns the bytes that follow a type of this kind; -1: unknown kind. */
static int64_t behind(const struct btf_type *t)
{
	uint32_t n = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return n * sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return n * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	case BTF_KIND_ENUM64:
		return n * sizeof(struct btf_enum64);
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	}
	return -1;
}

static bool is_name(const struct btf_types *b, uint32_t offset)
{
	return offset < b->strings_len;
}

static bool is_type(const struct btf_types *b, uint32_t id)
{
	return id <= b->count;
}

/* Whether `type` is another type's number, not a size. */
static bool refers(const struct btf_type *t)
{
	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FUNC_PROTO:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
	case BTF_KIND_TYPE_TAG:
		return true;
	}
	return false;
}

static uint32_t kind_of(const struct btf_types *b, uint32_t id)
{
	return id && is_type(b, id) ? BTF_INFO_KIND(b->types[id]->info) : BTF_KIND_UNKN;
}

/* Checks one entry after a type. Each begins with one or two numbers. */
static bool part_right(const struct btf_types *b, const struct btf_type *t, uint32_t i)
{
	const uint8_t *at = (const uint8_t *)(t + 1);
	const struct btf_member *m = (const struct btf_member *)at + i;
	const struct btf_param *p = (const struct btf_param *)at + i;
	const struct btf_var_secinfo *v = (const struct btf_var_secinfo *)at + i;

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return is_name(b, m->name_off) && is_type(b, m->type);
	case BTF_KIND_FUNC_PROTO:
		return is_name(b, p->name_off) && is_type(b, p->type);
	case BTF_KIND_DATASEC:
		/* Functions without a body too. */
		return kind_of(b, v->type) == BTF_KIND_VAR || kind_of(b, v->type) == BTF_KIND_FUNC;
	case BTF_KIND_ENUM:
		return is_name(b, ((const struct btf_enum *)at)[i].name_off);
	case BTF_KIND_ENUM64:
		return is_name(b, ((const struct btf_enum64 *)at)[i].name_off);
	}
	return true;
}

/* Types that the kernel treats specially in a map's value, and fills with its own addresses: struct
 * bpf_list_head and so on, pointers and members with tags (__kptr, __contains). */
static bool is_kernels(const struct btf_types *b, const struct btf_type *t)
{
	uint32_t kind = BTF_INFO_KIND(t->info);

	return kind == BTF_KIND_TYPE_TAG || kind == BTF_KIND_DECL_TAG ||
	       (kind == BTF_KIND_STRUCT && !strncmp(b->strings + t->name_off, "bpf_", 4));
}

static bool type_right(const struct btf_types *b, const struct btf_type *t)
{
	const struct btf_array *a = (const struct btf_array *)(t + 1);
	/* Only type 0 is NULL. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	uint32_t kind = BTF_INFO_KIND(t->info);

	if (!is_name(b, t->name_off) || (refers(t) && !is_type(b, t->type)))
		return false;
	if (kind == BTF_KIND_ARRAY && (!is_type(b, a->type) || !is_type(b, a->index_type)))
		return false;
	if (kind == BTF_KIND_FUNC && kind_of(b, t->type) != BTF_KIND_FUNC_PROTO)
		return false;
	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info) && kind != BTF_KIND_FUNC; i++)
		if (!part_right(b, t, i))
			return false;
	return true;
}

static const char *types_wrong(struct btf_types *b, const uint8_t *at, size_t len)
{
	while (len) {
		const struct btf_type *t = (const struct btf_type *)at;
		int64_t more = len < sizeof(*t) ? -1 : behind(t);

		if (more < 0 || len - sizeof(*t) < (size_t)more)
			return cut;
		b->types[++b->count] = t;
		at += sizeof(*t) + more;
		len -= sizeof(*t) + more;
	}
	for (uint32_t i = 1; i <= b->count; i++)
		if (!type_right(b, b->types[i]))
			return "one of its types names what is not there";
	for (uint32_t i = 1; i <= b->count; i++)
		if (is_kernels(b, b->types[i]))
			return "it has a type of which the kernel makes something (struct bpf_, or "
			       "a tag); do without";
	return NULL;
}

int btf_open(struct btf_types *b, const void *btf, size_t len, const char **why)
{
	const struct btf_header *h = btf;
	const uint8_t *body = (const uint8_t *)(h + 1);

	memset(b, 0, sizeof(*b));
	*why = cut;
	if (len < sizeof(*h) || h->magic != BTF_MAGIC || h->version != BTF_VERSION || h->flags ||
	    h->hdr_len != sizeof(*h) || h->type_off || h->type_len % 4 ||
	    h->str_off != h->type_len || h->type_len > len - sizeof(*h) || !h->str_len ||
	    h->str_len != len - sizeof(*h) - h->type_len)
		return -EBADMSG;
	b->strings = (const char *)body + h->str_off;
	b->strings_len = h->str_len;
	*why = "its names do not end";
	if (b->strings[0] || b->strings[b->strings_len - 1])
		return -EBADMSG;
	b->types = calloc(1 + h->type_len / sizeof(struct btf_type), sizeof(*b->types));
	if (!b->types)
		return -ENOMEM;
	*why = types_wrong(b, body, h->type_len);
	if (*why)
		btf_free(b);
	return *why ? -EBADMSG : 0;
}

void btf_free(struct btf_types *b)
{
	free(b->types);
	memset(b, 0, sizeof(*b));
}

/* ---- functions and lines (.BTF.ext) ---------------------------------------------------------- */

/* libbpf's struct, which is in no installed header. */
struct ext_header {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t hdr_len, func_off, func_len, line_off, line_len, relo_off, relo_len;
};

struct ext_section {
	uint32_t name, count;
};

/* The context for checking records. Without is_global they are line records. */
struct ext_of {
	const struct btf_types *types;
	btf_is_global *is_global;
	const void *of;
};

/* Every record begins with an offset. A function's type follows, or a line's two strings. */
static bool record_right(const struct ext_of *x, const char *section, const uint32_t *v)
{
	const struct btf_types *b = x->types;
	uint32_t linkage;

	if (!x->is_global)
		return is_name(b, v[1]) && is_name(b, v[2]);
	if (kind_of(b, v[1]) != BTF_KIND_FUNC)
		return false;
	linkage = BTF_INFO_VLEN(b->types[v[1]]->info);
	return linkage == (x->is_global(x->of, section, v[0]) ? BTF_FUNC_GLOBAL : BTF_FUNC_STATIC);
}

/* Checks one section's records: name, number, records. */
static bool records_right(const struct ext_of *x, const uint8_t *at, size_t len, uint32_t size)
{
	const struct btf_types *b = x->types;
	uint32_t record_len, v[4];
	struct ext_section s;

	if (!len)
		return true;
	if (len < sizeof(record_len))
		return false;
	memcpy(&record_len, at, sizeof(record_len));
	at += sizeof(record_len);
	len -= sizeof(record_len);
	while (record_len == size && len >= sizeof(s)) {
		memcpy(&s, at, sizeof(s));
		at += sizeof(s);
		len -= sizeof(s);
		if (!is_name(b, s.name) || !s.count || s.count > len / size)
			return false;
		for (; s.count; s.count--, at += size, len -= size) {
			memcpy(v, at, size);
			if (!record_right(x, b->strings + s.name, v))
				return false;
		}
	}
	return record_len == size && !len;
}

int btf_ext_check(const struct btf_types *b, const void *ext, size_t len, btf_is_global *is_global,
		  const void *of, const char **why)
{
	struct ext_of functions = { b, is_global, of }, lines = { .types = b };
	const struct ext_header *h = ext;
	const uint8_t *body;

	*why = "what it says of its functions ends in the middle";
	if (len < sizeof(*h) || h->magic != BTF_MAGIC || h->version != BTF_VERSION || h->flags ||
	    h->hdr_len != sizeof(*h))
		return -EBADMSG;
	body = (const uint8_t *)(h + 1);
	len -= sizeof(*h);
	if (h->func_off % 4 || h->line_off % 4 || h->func_off > len ||
	    h->func_len > len - h->func_off || h->line_off > len ||
	    h->line_len > len - h->line_off || !h->func_len)
		return -EBADMSG;
	*why = "it has more functions than the kernel takes";
	if (h->func_len > FUNCTIONS_LEN_MAX)
		return -EBADMSG;
	*why = "it asks for the kernel's own types";
	if (h->relo_len)
		return -EBADMSG;
	*why = "what it says of its functions names what is not there, or as global what is not";
	return records_right(&functions, body + h->func_off, h->func_len, 2 * sizeof(uint32_t)) &&
			       records_right(&lines, body + h->line_off, h->line_len,
					     4 * sizeof(uint32_t))
		       ? 0
		       : -EBADMSG;
}

/* ---- the function ---------------------------------------------------------------------------- */

static const struct btf_type *type_of(const struct btf_types *b, uint32_t id, uint32_t kind)
{
	return kind_of(b, id) == kind ? b->types[id] : NULL;
}

uint32_t btf_view_size(const struct btf_types *b, const char *name)
{
	const struct btf_type *proto = NULL, *view;
	const struct btf_param *p;

	for (uint32_t i = 1; i <= b->count && !proto; i++)
		if (kind_of(b, i) == BTF_KIND_FUNC &&
		    !strcmp(b->strings + b->types[i]->name_off, name))
			proto = type_of(b, b->types[i]->type, BTF_KIND_FUNC_PROTO);
	if (!proto || BTF_INFO_VLEN(proto->info) != 1)
		return 0;
	view = type_of(b, proto->type, BTF_KIND_INT);
	if (!view || view->size != sizeof(int))
		return 0;
	p = (const struct btf_param *)(proto + 1);
	view = type_of(b, p->type, BTF_KIND_PTR);
	view = view ? type_of(b, view->type, BTF_KIND_STRUCT) : NULL;
	return view && !strcmp(b->strings + view->name_off, "frame_view") ? view->size : 0;
}
