// SPDX-License-Identifier: GPL-2.0
/* Shims: see shim.h. bpftool makes no skeleton of an object that is not whole. */
#include "shim.h"

#include "elf.h"

#define EMBED(name)                                                                                \
	__asm__(".section .rodata\n"                                                               \
		".balign 16\n"                                                                     \
		".globl shim_" name "\n"                                                           \
		"shim_" name ":\n"                                                                 \
		".incbin \"bpf/module_" name ".bpf.o\"\n"                                          \
		".globl shim_" name "_end\n"                                                       \
		"shim_" name "_end:\n"                                                             \
		".byte 0\n"                                                                        \
		".previous\n")

EMBED("xdp");
EMBED("tc");

extern const uint8_t shim_xdp[], shim_xdp_end[], shim_tc[], shim_tc_end[];

struct module_shim module_shim(enum module_hook hook)
{
	return hook == MODULE_TC
		       ? (struct module_shim){ "module_tc", shim_tc, shim_tc_end - shim_tc }
		       : (struct module_shim){ "module_xdp", shim_xdp, shim_xdp_end - shim_xdp };
}

size_t module_shim_insns(enum module_hook hook)
{
	struct module_shim s = module_shim(hook);
	char why[ELF_WHY_LEN];
	struct elf e;
	unsigned int section = elf_open(&e, s.data, s.len, why) ? 0 : elf_find(&e, s.section);

	return section ? e.sections[section].sh_size / 8 : 0;
}
