// SPDX-License-Identifier: GPL-2.0
/* Shims: see shim.h. bpftool makes no skeleton of an object with undefined symbols. */
#include "shim.h"

#include <string.h>

#include "agent/programs/insn.h"
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

static const struct bpf_insn *insns_of(enum module_hook hook, size_t *count)
{
	struct module_shim s = module_shim(hook);
	char why[ELF_WHY_LEN];
	struct elf e;
	unsigned int section = elf_open(&e, s.data, s.len, why) ? 0 : elf_find(&e, s.section);

	*count = section ? e.sections[section].sh_size / sizeof(struct bpf_insn) : 0;
	return section ? elf_data(&e, section) : NULL;
}

size_t module_shim_insns(enum module_hook hook)
{
	size_t count;

	insns_of(hook, &count);
	return count;
}

bool module_shim_is(enum module_hook hook, const struct bpf_insn *insns)
{
	size_t count;
	const struct bpf_insn *shim = insns_of(hook, &count);

	for (size_t n = 0; n < count; n++) {
		struct bpf_insn is = insns[n];

		if (insn_is_wide(&shim[n])) {
			if (is.src_reg != BPF_PSEUDO_MAP_FD)
				return false;
			is.src_reg = shim[n].src_reg;
			is.imm = shim[n].imm;
		} else if (insn_is_call(&shim[n])) {
			is.imm = shim[n].imm;
		}
		if (memcmp(&is, &shim[n], sizeof(is)))
			return false;
	}
	return count;
}
