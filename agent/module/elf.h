/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ELF: parses an untrusted relocatable object for BPF. In: its bytes. Out: sections and symbols
 * whose bounds are checked. libelf and libbpf get only checked objects, as neither is made for
 * untrusted ones.
 */
#ifndef AGENT_MODULE_ELF_H
#define AGENT_MODULE_ELF_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#ifndef SHT_LLVM_ADDRSIG
#define SHT_LLVM_ADDRSIG 0x6fff4c03 /* LLVM's, unused */
#endif

#define ELF_SECTIONS_MAX 64
#define ELF_BSS_MAX (1 << 20) /* bytes of a section without bytes in the file */
#define ELF_WHY_LEN 128

struct elf {
	const uint8_t *data;
	size_t len;
	unsigned int count; /* of sections */
	const Elf64_Shdr *sections;
	const char *names;
	const Elf64_Sym *symbols;
	unsigned int symbol_count;
	const char *symbol_names;
};

/* `data` is aligned to 8 bytes and outlives `e`. Always holds afterwards: each section's bytes are
 * inside `data`, each name is a string, each symbol is inside its section, each relocation has a
 * symbol and 4 bytes of its target. Returns 0, or -EBADMSG with `why`. */
int elf_open(struct elf *e, const void *data, size_t len, char why[ELF_WHY_LEN]);

static inline const char *elf_name(const struct elf *e, unsigned int section)
{
	return e->names + e->sections[section].sh_name;
}

static inline const void *elf_data(const struct elf *e, unsigned int section)
{
	return e->data + e->sections[section].sh_offset;
}

static inline const char *elf_symbol_name(const struct elf *e, const Elf64_Sym *s)
{
	return e->symbol_names + s->st_name;
}

/* Returns the symbol's section; "": none. */
static inline const char *elf_symbol_section(const struct elf *e, const Elf64_Sym *s)
{
	return s->st_shndx && s->st_shndx < e->count ? elf_name(e, s->st_shndx) : "";
}

/* Returns the section with this name, or 0. */
unsigned int elf_find(const struct elf *e, const char *name);

#endif
