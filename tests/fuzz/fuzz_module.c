// SPDX-License-Identifier: GPL-2.0
/*
 * links: agent/module/elf.o agent/module/shape.o agent/module/btf.o agent/module/wants.o
 * agent/module/words.o
 *
 * Objects of modules. Always holds: an unreadable one has a reason; in a readable one, each name
 * and each symbol is there; an accepted one has a function and code in .text only.
 */
#include "fuzz.h"

#include <linux/bpf.h>

#include "agent/module/shape.h"

static void check_elf(const struct elf *e)
{
	for (unsigned int i = 1; i < e->count; i++) {
		fuzz_touch((const uint8_t *)elf_name(e, i), strlen(elf_name(e, i)) + 1);
		if (e->sections[i].sh_type != SHT_NOBITS)
			fuzz_touch(elf_data(e, i), e->sections[i].sh_size);
		CHECK(elf_find(e, elf_name(e, i)) == i);
	}
	for (unsigned int i = 0; i < e->symbol_count; i++) {
		const char *name = elf_symbol_name(e, &e->symbols[i]);

		fuzz_touch((const uint8_t *)name, strlen(name) + 1);
	}
}

static void check_shape(const struct elf *e, const char *shim)
{
	static FILE *nowhere;
	struct module_wants wants = { 0 };
	struct module_lines lines = { .out = nowhere ?: (nowhere = fopen("/dev/null", "w")) };
	int err = shape_check(e, shim, &wants, &lines);

	if (err) {
		CHECK(lines.refused);
		return;
	}
	for (unsigned int i = 1; i < e->count && !lines.refused && !shim; i++)
		CHECK(!(e->sections[i].sh_flags & SHF_EXECINSTR) || i == elf_find(e, ".text"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ?: 1); /* aligned as an object is */
	char why[ELF_WHY_LEN] = "";
	struct elf e;

	memcpy(copy, data, len);
	if (elf_open(&e, copy, len, why)) {
		CHECK(*why);
	} else {
		check_elf(&e);
		check_shape(&e, NULL);
		check_shape(&e, "module_xdp");
	}
	free(copy);
	return 0;
}
