// SPDX-License-Identifier: GPL-2.0
/* ELF: see elf.h. */
#include "elf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifndef EM_BPF
#define EM_BPF 247
#endif
#define OWN_ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

static const char *head_wrong(const struct elf *e)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)e->data;

	if (e->len < sizeof(*h) || memcmp(h->e_ident, ELFMAG, SELFMAG))
		return "is no object file";
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != OWN_ORDER ||
	    h->e_type != ET_REL || h->e_machine != EM_BPF)
		return "is no object file for BPF on this machine";
	if (h->e_ident[EI_VERSION] != EV_CURRENT || h->e_version != EV_CURRENT ||
	    h->e_ehsize != sizeof(*h) || h->e_shentsize != sizeof(Elf64_Shdr) || h->e_phnum)
		return "its header is not that of an object file";
	if (h->e_shnum == 0 || h->e_shnum > ELF_SECTIONS_MAX || h->e_shstrndx == 0 ||
	    h->e_shstrndx >= h->e_shnum)
		return "has no sections, or too many";
	if (h->e_shoff % 8 || h->e_shoff > e->len ||
	    h->e_shnum * sizeof(Elf64_Shdr) > e->len - h->e_shoff)
		return "its table of sections is not in it";
	return NULL;
}

static const char *section_wrong(const struct elf *e, const Elf64_Shdr *s)
{
	bool nobits = s->sh_type == SHT_NOBITS;

	if (s->sh_type != SHT_PROGBITS && s->sh_type != SHT_SYMTAB && s->sh_type != SHT_STRTAB &&
	    s->sh_type != SHT_REL && s->sh_type != SHT_LLVM_ADDRSIG && !nobits)
		return "is of an unknown kind";
	if (s->sh_flags & SHF_COMPRESSED)
		return "is compressed";
	if (s->sh_addralign & (s->sh_addralign - 1) || s->sh_addralign > 4096)
		return "cannot be aligned so";
	if (s->sh_offset > e->len || s->sh_size > (nobits ? ELF_BSS_MAX : e->len - s->sh_offset))
		return "is larger than the file";
	if (s->sh_type == SHT_STRTAB &&
	    (!s->sh_size || e->data[s->sh_offset] || e->data[s->sh_offset + s->sh_size - 1]))
		return "does not end as strings do";
	if ((s->sh_type == SHT_REL || s->sh_type == SHT_SYMTAB) && s->sh_offset % 8)
		return "is not aligned";
	return NULL;
}

static bool name_in(const struct elf *e, unsigned int table, uint32_t offset)
{
	return offset < e->sections[table].sh_size;
}

static const char *symbol_wrong(const struct elf *e, const Elf64_Sym *s, unsigned int names)
{
	const Elf64_Shdr *in;

	if (!name_in(e, names, s->st_name))
		return "has a symbol without a name";
	if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS)
		return NULL;
	if (s->st_shndx >= e->count)
		return "has a symbol of no section";
	in = &e->sections[s->st_shndx];
	return s->st_value > in->sh_size || s->st_size > in->sh_size - s->st_value
		       ? "has a symbol that is larger than its section"
		       : NULL;
}

static const char *symbols_wrong(struct elf *e, const Elf64_Shdr *s)
{
	const char *wrong = NULL;

	if (e->symbols)
		return "is not the only table of symbols";
	if (s->sh_entsize != sizeof(Elf64_Sym) || s->sh_size % sizeof(Elf64_Sym) || !s->sh_size ||
	    s->sh_link >= e->count || e->sections[s->sh_link].sh_type != SHT_STRTAB)
		return "is no table of symbols";
	e->symbols = (const Elf64_Sym *)(e->data + s->sh_offset);
	e->symbol_count = s->sh_size / sizeof(Elf64_Sym);
	e->symbol_names = elf_data(e, s->sh_link);
	for (unsigned int i = 0; i < e->symbol_count && !wrong; i++)
		wrong = symbol_wrong(e, &e->symbols[i], s->sh_link);
	return wrong;
}

static const char *relocations_wrong(const struct elf *e, const Elf64_Shdr *s)
{
	const Elf64_Rel *rel = (const Elf64_Rel *)(e->data + s->sh_offset);
	const Elf64_Shdr *target;

	if (s->sh_entsize != sizeof(*rel) || s->sh_size % sizeof(*rel) || s->sh_link >= e->count ||
	    e->sections[s->sh_link].sh_type != SHT_SYMTAB || s->sh_info >= e->count)
		return "is no table of relocations";
	target = &e->sections[s->sh_info];
	if (target->sh_type != SHT_PROGBITS)
		return "relocates what is not there";
	for (size_t i = 0; i < s->sh_size / sizeof(*rel); i++) {
		if (ELF64_R_SYM(rel[i].r_info) >= e->symbol_count)
			return "has a relocation without a symbol";
		/* A relocation of 4 bytes may be at the end of .BTF.ext. */
		if (target->sh_size < 4 || rel[i].r_offset > target->sh_size - 4)
			return "has a relocation behind the end";
	}
	return NULL;
}

static const char *table_wrong(struct elf *e, const Elf64_Shdr *s, uint32_t kind)
{
	if (s->sh_type != kind)
		return NULL;
	return kind == SHT_SYMTAB ? symbols_wrong(e, s) : relocations_wrong(e, s);
}

static int wrong_in(const struct elf *e, unsigned int section, const char *wrong, char *why)
{
	bool named = e->names && name_in(e, ((const Elf64_Ehdr *)e->data)->e_shstrndx,
					 e->sections[section].sh_name);

	if (wrong)
		snprintf(why, ELF_WHY_LEN, "section %u (%.32s) %s", section,
			 named ? elf_name(e, section) : "?", wrong);
	return wrong ? -EBADMSG : 0;
}

static bool named_before(const struct elf *e, unsigned int section)
{
	for (unsigned int i = 1; i < section; i++)
		if (!strcmp(elf_name(e, i), elf_name(e, section)))
			return true;
	return false;
}

static int names_check(struct elf *e, unsigned int names, char *why)
{
	int err = 0;

	if (e->sections[names].sh_type != SHT_STRTAB)
		return wrong_in(e, names, "has no names", why);
	for (unsigned int i = 0; i < e->count && !err; i++)
		err = wrong_in(e, i,
			       name_in(e, names, e->sections[i].sh_name) ? NULL : "has no name",
			       why);
	if (!err)
		e->names = elf_data(e, names);
	for (unsigned int i = 1; i < e->count && !err; i++)
		err = wrong_in(e, i, named_before(e, i) ? "is there twice" : NULL, why);
	return err;
}

int elf_open(struct elf *e, const void *data, size_t len, char why[ELF_WHY_LEN])
{
	static const uint32_t tables[] = { SHT_SYMTAB, SHT_REL };
	const Elf64_Ehdr *h = data;
	const char *wrong;
	int err = 0;

	*e = (struct elf){ .data = data, .len = len };
	wrong = head_wrong(e);
	if (wrong) {
		snprintf(why, ELF_WHY_LEN, "%s", wrong);
		return -EBADMSG;
	}
	e->count = h->e_shnum;
	e->sections = (const Elf64_Shdr *)(e->data + h->e_shoff);
	if (e->sections[0].sh_type != SHT_NULL)
		err = wrong_in(e, 0, "is not that of nothing", why);
	for (unsigned int i = 1; i < e->count && !err; i++)
		err = wrong_in(e, i, section_wrong(e, &e->sections[i]), why);
	err = err ?: names_check(e, h->e_shstrndx, why);
	for (unsigned int t = 0; t < 2; t++)
		for (unsigned int i = 1; i < e->count && !err; i++)
			err = wrong_in(e, i, table_wrong(e, &e->sections[i], tables[t]), why);
	if (!err && !e->symbols) {
		snprintf(why, ELF_WHY_LEN, "has no symbols");
		err = -EBADMSG;
	}
	return err;
}

unsigned int elf_find(const struct elf *e, const char *name)
{
	for (unsigned int i = 1; i < e->count; i++)
		if (!strcmp(elf_name(e, i), name))
			return i;
	return 0;
}
