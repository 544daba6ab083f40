// SPDX-License-Identifier: GPL-2.0
/* Shape: see shape.h. */
#include "shape.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <saluki/module.h>

#include "agent/programs/insn.h"
#include "btf.h"

/* Kinds of relocations (the kernel's documentation, bpf/llvm_reloc.rst). */
#define RELOC_64_64 1  /* of a 64-bit immediate */
#define RELOC_64_32 10 /* of a call */

static const char one_function[] =
	"a module is one function, int module(struct frame_view *v), without SEC()";

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* ---- sections -------------------------------------------------------------------------------- */

static bool is_data(const char *name)
{
	return !strcmp(name, ".bss") || !strcmp(name, ".data") || !strcmp(name, ".rodata") ||
	       begins(name, ".rodata.");
}

/* Names by clang, and by libbpf's linker, which writes no '.' after .rel for a program. */
static bool is_known(const char *name, uint32_t type, const char *shim)
{
	static const struct {
		const char *name;
		uint32_t type;
	} known[] = {
		{ ".strtab", SHT_STRTAB },
		{ ".symtab", SHT_SYMTAB },
		{ ".shstrtab", SHT_STRTAB },
		{ ".text", SHT_PROGBITS },
		{ "license", SHT_PROGBITS },
		{ ".maps", SHT_PROGBITS },
		{ ".BTF", SHT_PROGBITS },
		{ ".BTF.ext", SHT_PROGBITS },
		{ ".rel.text", SHT_REL },
		{ ".rel.BTF", SHT_REL },
		{ ".rel.BTF.ext", SHT_REL },
		{ ".bss", SHT_NOBITS },
		{ ".llvm_addrsig", SHT_LLVM_ADDRSIG },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].name))
			return type == known[i].type;
	if (shim && type == SHT_REL)
		return begins(name, ".rel") && !strcmp(name + strlen(".rel"), shim);
	return type == SHT_PROGBITS && (is_data(name) || (shim && !strcmp(name, shim)));
}

/* libbpf ignores sections with these names. */
static bool is_debug(const Elf64_Shdr *s, const char *name)
{
	return (begins(name, ".debug_") && s->sh_type == SHT_PROGBITS &&
		!(s->sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR))) ||
	       (begins(name, ".rel.debug_") && s->sh_type == SHT_REL);
}

static void section_check(const struct elf *e, unsigned int i, const char *shim,
			  struct module_lines *l)
{
	const Elf64_Shdr *s = &e->sections[i];
	const char *name = elf_name(e, i);
	char what[96];

	snprintf(what, sizeof(what), "section %.64s", name);
	if (is_debug(s, name)) {
		if (begins(name, ".debug_info"))
			lines_refused(l, what, "strip it: llvm-strip -g");
	} else if ((s->sh_flags & SHF_EXECINSTR) && strcmp(name, ".text") &&
		   (!shim || strcmp(name, shim))) {
		snprintf(what, sizeof(what), "a program of its own (section %.48s)", name);
		lines_refused(l, what, "%s", one_function);
	} else if (s->sh_type == SHT_REL && !strcmp(elf_name(e, s->sh_info), ".maps")) {
		lines_refused(l, "maps or programs in a map", "remove 'values'");
	} else if (!is_known(name, s->sh_type, shim)) {
		lines_refused(l, what, "is not of a module; compile it by 'make module'");
	}
}

/* As in the kernel's license_is_gpl_compatible(). */
static void license_check(const struct elf *e, struct module_lines *l)
{
	static const char *const good[] = {
		"GPL",		"GPL v2",	"GPL and additional rights",
		"Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL"
	};
	unsigned int section = elf_find(e, "license");
	const char *text = section ? elf_data(e, section) : "";
	size_t len = section && e->sections[section].sh_type == SHT_PROGBITS
			     ? e->sections[section].sh_size
			     : 0;
	char what[64];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (len == strlen(good[i]) + 1 && !memcmp(text, good[i], len))
			return;
	snprintf(what, sizeof(what), "license '%.*s'", (int)(len && len < 32 ? len - 1 : 0), text);
	lines_refused(l, what,
		      "the kernel takes helpers from modules under the GPL alone; "
		      "<saluki/module.h> says so for you");
}

/* ---- symbols --------------------------------------------------------------------------------- */

static bool is_own(const char *name, const char *shim)
{
	return shim &&
	       (!strcmp(name, SHAPE_VIEW) || (begins(name, "saluki_") && !strcmp(name + 7, shim)));
}

static void symbol_check(const struct elf *e, const Elf64_Sym *s, const char *shim, bool *found,
			 struct module_lines *l)
{
	const char *name = elf_symbol_name(e, s);
	bool function = ELF64_ST_TYPE(s->st_info) == STT_FUNC;
	bool local = ELF64_ST_BIND(s->st_info) == STB_LOCAL;
	char what[96];

	if (s->st_shndx == SHN_UNDEF && *name) {
		snprintf(what, sizeof(what), "%.64s from elsewhere (extern)", name);
		lines_refused(l, what, "a module has nothing but what is in it, and helpers");
	} else if (local && ELF64_ST_TYPE(s->st_info) == STT_OBJECT &&
		   !strcmp(elf_symbol_section(e, s), ".maps")) {
		snprintf(what, sizeof(what), "map %.64s", name);
		lines_refused(l, what, "it is static, as maps cannot be: take that away");
	} else if (local || is_own(name, shim)) {
		return;
	} else if (function && !strcmp(name, SHAPE_FUNCTION) &&
		   !strcmp(elf_symbol_section(e, s), ".text") &&
		   ELF64_ST_BIND(s->st_info) == STB_GLOBAL) {
		*found = true;
	} else if (function || ELF64_ST_BIND(s->st_info) != STB_GLOBAL) {
		snprintf(what, sizeof(what), "another function than module (%.48s)", name);
		lines_refused(l, what, "make it static: the verifier bounds no others");
	} else if (begins(name, "saluki_")) {
		snprintf(what, sizeof(what), "map %.64s", name);
		lines_refused(l, what, "names with saluki_ are the capture's own; give it another");
	}
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* A reference to the section of maps itself would mean its first map, which is not the module's. */
static bool names_map(const Elf64_Sym *to, const char *where)
{
	return !strcmp(where, ".maps") && ELF64_ST_BIND(to->st_info) == STB_GLOBAL &&
	       ELF64_ST_TYPE(to->st_info) == STT_OBJECT;
}

/* Returns what a reference to a symbol will mean. */
static bool relocation_right(const struct elf *e, const struct bpf_insn *i, bool last,
			     uint32_t kind, const Elf64_Sym *to, struct module_wants *w)
{
	const char *where = elf_symbol_section(e, to);

	if (!*where) /* extern: reported with the symbol */
		return to->st_shndx == SHN_UNDEF && *elf_symbol_name(e, to);
	if (kind == RELOC_64_32)
		return insn_is_call(i) && !strcmp(where, ".text");
	if (kind != RELOC_64_64 || !insn_is_wide(i) || last)
		return false;
	if (!strcmp(where, ".text"))
		w->denied[WANTS_CALLBACK] = true;
	return !strcmp(where, ".text") || names_map(to, where) || is_data(where);
}

static bool relocations_right(const struct elf *e, unsigned int section, struct module_wants *w)
{
	const struct bpf_insn *insns = elf_data(e, section);
	size_t count = e->sections[section].sh_size / sizeof(*insns);

	for (unsigned int r = 1; r < e->count; r++) {
		const Elf64_Shdr *s = &e->sections[r];
		const Elf64_Rel *rel = elf_data(e, r);

		if (s->sh_type != SHT_REL || s->sh_info != section)
			continue;
		for (size_t i = 0; i < s->sh_size / sizeof(*rel); i++) {
			size_t at = rel[i].r_offset / sizeof(*insns);

			if (rel[i].r_offset % sizeof(*insns) || at >= count ||
			    !relocation_right(e, &insns[at], at + 1 == count,
					      ELF64_R_TYPE(rel[i].r_info),
					      &e->symbols[ELF64_R_SYM(rel[i].r_info)], w))
				return false;
		}
	}
	return true;
}

/* A map reference needs a relocation. Without one, the kernel would take the number for a
 * descriptor of ours. Checks every 8 bytes: a function may begin in the second half of another
 * function's last instruction. */
static bool names_descriptors(const struct elf *e, unsigned int section)
{
	const struct bpf_insn *i = elf_data(e, section);
	const struct bpf_insn *end = i + e->sections[section].sh_size / sizeof(*i);

	for (; i < end; i++)
		if (insn_is_wide(i) &&
		    (i->src_reg == BPF_PSEUDO_MAP_FD || i->src_reg == BPF_PSEUDO_MAP_VALUE))
			return true;
	return false;
}

static int insns_check(const struct elf *e, const char *section, struct module_wants *w,
		       struct module_lines *l)
{
	unsigned int text = elf_find(e, section);
	const Elf64_Shdr *s = &e->sections[text];

	if (!text)
		return 0; /* so there is no function: reported */
	if (s->sh_type != SHT_PROGBITS || s->sh_offset % 8 || s->sh_size % 8 ||
	    !relocations_right(e, text, w) || names_descriptors(e, text)) {
		lines_refused(l, "to be linked", "%s: its references are not those of clang",
			      section);
		return -EBADMSG;
	}
	wants_insns(w, elf_data(e, text), s->sh_size / sizeof(struct bpf_insn));
	return 0;
}

/* ---- types ----------------------------------------------------------------------------------- */

static bool is_global(const void *of, const char *section, uint32_t offset)
{
	const struct elf *e = of;

	for (unsigned int i = 1; i < e->symbol_count; i++) {
		const Elf64_Sym *s = &e->symbols[i];

		if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_value == offset &&
		    ELF64_ST_BIND(s->st_info) == STB_GLOBAL &&
		    !strcmp(elf_symbol_section(e, s), section))
			return true;
	}
	return false;
}

static int types_check(const struct elf *e, struct module_lines *l)
{
	unsigned int types = elf_find(e, ".BTF"), ext = elf_find(e, ".BTF.ext");
	const Elf64_Shdr *t = &e->sections[types], *x = &e->sections[ext];
	const char *why = "there is none; compile it with -g, and strip it by llvm-strip -g";
	struct btf_types b = { 0 };
	uint32_t size;
	int err = -EBADMSG;

	if (types && ext && t->sh_type == SHT_PROGBITS && x->sh_type == SHT_PROGBITS &&
	    t->sh_offset % 4 == 0 && x->sh_offset % 4 == 0)
		err = btf_open(&b, elf_data(e, types), t->sh_size, &why);
	err = err ?: btf_ext_check(&b, elf_data(e, ext), x->sh_size, is_global, e, &why);
	if (err) {
		lines_refused(l, "to be known by its types (BTF)", "%s", why);
		btf_free(&b);
		return err;
	}
	size = btf_view_size(&b, SHAPE_FUNCTION);
	if (!size)
		lines_refused(l, "to be called otherwise", "%s", one_function);
	else if (size != sizeof(struct frame_view))
		lines_refused(l, "another view",
			      "its struct frame_view has %u bytes, not %zu; compile it with this "
			      "saluki's <saluki/module.h>",
			      size, sizeof(struct frame_view));
	btf_free(&b);
	return 0;
}

int shape_check(const struct elf *e, const char *shim, struct module_wants *w,
		struct module_lines *l)
{
	bool found = false;
	int err;

	for (unsigned int i = 1; i < e->count; i++)
		section_check(e, i, shim, l);
	license_check(e, l);
	for (unsigned int i = 1; i < e->symbol_count; i++)
		symbol_check(e, &e->symbols[i], shim, &found, l);
	if (!found)
		lines_refused(l, "to be called otherwise", "%s", one_function);
	err = insns_check(e, ".text", w, l);
	if (!err && shim)
		err = insns_check(e, shim, w, l);
	return err ?: found ? types_check(e, l) : -EBADMSG;
}
