// SPDX-License-Identifier: GPL-2.0
/*
 * links: agent/module/elf.o agent/module/shape.o agent/module/btf.o agent/module/wants.o
 * agent/module/words.o
 *
 * The object of bpf/modules/count/count.bpf.c, and altered copies of it.
 */
#include "unit.h"

#include <linux/bpf.h>

#include "agent/module/shape.h"

__asm__(".section .rodata\n"
	"count_object: .incbin \"modules/count.o\"\n"
	"count_object_end: .byte 0\n"
	".previous\n");
extern const uint8_t count_object[], count_object_end[];

static struct {
	uint8_t *data;
	size_t len;
	struct elf elf;
	struct module_wants wants;
	struct module_lines lines;
	char why[ELF_WHY_LEN], said[4096];
} one;

/* A copy of exactly its size, so that sanitizers see a read beyond it. */
static int check_bytes(const uint8_t *data, size_t len)
{
	FILE *out = fmemopen(one.said, sizeof(one.said), "w");
	int err;

	free(one.data);
	one.data = malloc(len ?: 1);
	one.len = len;
	memcpy(one.data, data, len);
	memset(&one.wants, 0, sizeof(one.wants));
	memset(one.said, 0, sizeof(one.said));
	one.lines = (struct module_lines){ .out = out };
	strcpy(one.why, "");
	err = elf_open(&one.elf, one.data, one.len, one.why);
	assert_true(!err || *one.why);
	err = err ?: shape_check(&one.elf, NULL, &one.wants, &one.lines);
	fclose(out);
	return err;
}

static uint8_t altered[65536];
static size_t altered_len;

static Elf64_Shdr *fresh_section(const char *name)
{
	unsigned int i = 0;

	altered_len = count_object_end - count_object;
	memcpy(altered, count_object, altered_len);
	if (name) {
		assert_int_equal(check_bytes(altered, altered_len), 0);
		i = elf_find(&one.elf, name);
		assert_true(i);
	}
	return (Elf64_Shdr *)(altered + ((Elf64_Ehdr *)altered)->e_shoff) + i;
}

static void assert_malformed(const char *why)
{
	assert_int_equal(check_bytes(altered, altered_len), -EBADMSG);
	if (!strstr(one.why, why))
		fail_msg("'%s', not '%s'", one.why, why);
}

static void assert_refused(const char *line)
{
	check_bytes(altered, altered_len);
	assert_true(one.lines.refused);
	if (!strstr(one.said, line))
		fail_msg("'%s', not '%s'", one.said, line);
}

static void as_it_is(void **state)
{
	(void)state;
	fresh_section(NULL);
	assert_int_equal(check_bytes(altered, altered_len), 0);
	assert_int_equal(one.lines.refused, 0);
	assert_int_equal(one.wants.helpers[0], 1ULL << BPF_FUNC_map_lookup_elem);
	for (int i = 0; i < WANTS_DENIED; i++)
		assert_false(one.wants.denied[i]);
}

static void cut_anywhere(void **state)
{
	(void)state;
	for (size_t len = 0; len < (size_t)(count_object_end - count_object); len++)
		assert_int_equal(check_bytes(count_object, len), -EBADMSG);
}

/* No read is beyond the file: sanitizers check. */
static void every_byte_altered(void **state)
{
	static const uint8_t how[] = { 0x01, 0x80, 0xff, 0x10 };
	size_t taken = 0;

	(void)state;
	fresh_section(NULL);
	for (size_t i = 0; i < altered_len; i++)
		for (size_t k = 0; k < sizeof(how); k++) {
			altered[i] ^= how[k];
			taken += check_bytes(altered, altered_len) == 0 && !one.lines.refused;
			altered[i] ^= how[k];
		}
	assert_true(taken > 0); /* names, lines and instructions may differ */
}

static void every_word_large(void **state)
{
	static const uint32_t values[] = { 0, 0x7fffffff, 0xffffffff, 0x10000, 4000 };

	(void)state;
	fresh_section(NULL);
	for (size_t i = 0; i + 4 <= altered_len; i += 4)
		for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
			memcpy(altered + i, &values[k], 4);
			check_bytes(altered, altered_len);
			memcpy(altered + i, count_object + i, 4);
		}
}

static void heads(void **state)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)altered;

	(void)state;
	fresh_section(NULL);
	h->e_ident[1] = 'e';
	assert_malformed("is no object file");
	fresh_section(NULL);
	h->e_machine = EM_X86_64;
	assert_malformed("no object file for BPF");
	fresh_section(NULL);
	h->e_type = ET_EXEC;
	assert_malformed("no object file for BPF");
	fresh_section(NULL);
	h->e_shoff += 8;
	assert_malformed("");
	fresh_section(NULL);
	h->e_shoff = altered_len - 8;
	assert_malformed("table of sections is not in it");
	fresh_section(NULL);
	h->e_shnum = 1000;
	assert_malformed("has no sections, or too many");
}

static void sections(void **state)
{
	Elf64_Shdr *s;

	(void)state;
	fresh_section(".text")->sh_size = 1 << 20;
	assert_malformed("is larger than the file");
	fresh_section(".text")->sh_offset = -8ULL;
	assert_malformed("is larger than the file");
	fresh_section(".text")->sh_type = SHT_DYNAMIC;
	assert_malformed("is of an unknown kind");
	fresh_section(".text")->sh_flags |= SHF_COMPRESSED;
	assert_malformed("is compressed");
	fresh_section(".text")->sh_addralign = 24;
	assert_malformed("cannot be aligned so");
	fresh_section(".text")->sh_name = 1 << 20;
	assert_malformed("has no name");
	s = fresh_section(".text");
	s->sh_name = s[elf_find(&one.elf, "license") - elf_find(&one.elf, ".text")].sh_name;
	assert_malformed("is there twice");
	s = fresh_section(".symtab");
	s->sh_link = 0;
	assert_malformed("is no table of symbols");
	fresh_section(".rel.text")->sh_info = 60;
	assert_malformed("is no table of relocations");
	fresh_section(".strtab")->sh_size--;
	assert_malformed("does not end as strings do");
}

static void relocations(void **state)
{
	Elf64_Shdr *s = fresh_section(".rel.text");
	Elf64_Rel *r = (Elf64_Rel *)(altered + s->sh_offset);

	(void)state;
	r->r_offset = 1 << 20;
	assert_malformed("has a relocation behind the end");
	fresh_section(NULL);
	r->r_info = ELF64_R_INFO(1000, 1);
	assert_malformed("has a relocation without a symbol");
	fresh_section(NULL);
	r->r_offset += 8;
	assert_refused("its references are not those of clang");
	fresh_section(NULL);
	r->r_info = ELF64_R_INFO(ELF64_R_SYM(r->r_info), 2);
	assert_refused("its references are not those of clang");
}

static void instructions(void **state)
{
	static const struct {
		struct bpf_insn insn;
		enum wants_denied denied;
	} bad[] = {
		{ { BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, 1 }, WANTS_KFUNC },
		{ { BPF_JMP | BPF_CALL, 0, 0, 0, 100000 }, WANTS_UNKNOWN },
		{ { BPF_JMP | BPF_CALL, 0, 0, 0, -1 }, WANTS_UNKNOWN },
		{ { BPF_JMP | BPF_CALL, 0, 3, 0, 1 }, WANTS_UNKNOWN },
		{ { BPF_JMP32 | BPF_CALL, 0, 0, 0, 1 }, WANTS_UNKNOWN },
		{ { BPF_LD | BPF_IMM | BPF_DW, 0, BPF_PSEUDO_BTF_ID, 0, 1 }, WANTS_KERNEL },
		{ { BPF_LD | BPF_IMM | BPF_DW, 0, BPF_PSEUDO_FUNC, 0, 1 }, WANTS_CALLBACK },
		{ { BPF_LD | BPF_IMM | BPF_DW, 0, BPF_PSEUDO_MAP_IDX, 0, 1 }, WANTS_UNKNOWN },
		{ { BPF_LD | BPF_ABS | BPF_W, 0, 0, 0, 1 }, WANTS_PACKET },
		{ { BPF_LD | BPF_IND | BPF_W, 0, 0, 0, 1 }, WANTS_PACKET },
		{ { BPF_JMP | 0xe0, 0, 0, 1, 0 }, WANTS_MAY_LOOP },
	};
	static const struct bpf_insn nothing[] = { { BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 1 },
						   { BPF_JMP32 | BPF_JEQ, 0, 0, 0, 1 },
						   { BPF_JMP | BPF_EXIT, 0, 0, 0, 0 } };
	struct module_wants w = { 0 };

	(void)state;
	wants_insns(&w, nothing, 3);
	assert_true(wants_granted(&w, &(struct module_grant){ 0 }));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct module_grant all;

		memset(&all, 0xff, sizeof(all));
		memset(&w, 0, sizeof(w));
		wants_insns(&w, &bad[i].insn, 1);
		for (int d = 0; d < WANTS_DENIED; d++)
			assert_int_equal(w.denied[d], d == (int)bad[i].denied);
		assert_false(wants_granted(&w, &all));
	}
}

static int group_teardown(void **state)
{
	(void)state;
	free(one.data);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_it_is),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(every_byte_altered),
		cmocka_unit_test(every_word_large),
		cmocka_unit_test(heads),
		cmocka_unit_test(sections),
		cmocka_unit_test(relocations),
		cmocka_unit_test(instructions),
	};

	return cmocka_run_group_tests_name("shape", tests, NULL, group_teardown);
}
