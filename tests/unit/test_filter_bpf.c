// SPDX-License-Identifier: GPL-2.0
/* links: agent/filter/filter_check.o agent/filter/filter_code.o agent/filter/filter_bpf.o
 * agent/filter/filter_emit.o agent/filter/filter_flow.o agent/filter/filter_chain.o
 * agent/filter/filter_slow.o */
#include "unit.h"

#include "agent/filter/filter_bpf.h"

static struct filter filter;
static char why[FILTER_WHY_LEN];

static void parse(const char *text)
{
	assert_int_equal(filter_parse_code(&filter, text, strlen(text), why, sizeof(why)), 0);
}

static bool is_end(const struct bpf_insn *x)
{
	return x->code == (BPF_JMP | BPF_EXIT) || (x->code == (BPF_JMP | BPF_JA) && x->off < 0);
}

/* Jumps stay inside the program and never into half an instruction. They go back only from one end
 * to the one before. There is one exit, and the last instruction is the exit or a jump. */
static void check_body(const struct filter_bpf *b)
{
	uint8_t last = b->insns[b->len - 1].code;
	unsigned int exits = 0;

	assert_true(last == (BPF_JMP | BPF_EXIT) || last == (BPF_JMP | BPF_JA));
	for (uint32_t i = 0; i < b->len; i++) {
		const struct bpf_insn *x = &b->insns[i];
		bool jumps = BPF_CLASS(x->code) == BPF_JMP || BPF_CLASS(x->code) == BPF_JMP32;

		assert_true(b->from[i] < filter.len);
		exits += x->code == (BPF_JMP | BPF_EXIT);
		if (!jumps || x->code == (BPF_JMP | BPF_CALL) || x->code == (BPF_JMP | BPF_EXIT))
			continue;
		assert_in_range(i + 1 + x->off, 0, b->len - 1);
		assert_true(x->off >= 0 || is_end(&b->insns[i + 1 + x->off]));
	}
	assert_int_equal(exits, 1);
}

static uint32_t translate(enum filter_hook hook)
{
	struct filter_bpf b;
	uint32_t len;

	assert_int_equal(filter_translate(&b, &filter, hook, 0, why, sizeof(why)), 0);
	check_body(&b);
	len = b.len;
	filter_bpf_free(&b);
	return len;
}

static void short_and_long(void **state)
{
	(void)state;
	parse("1\n6 0 0 1\n");
	assert_true(translate(FILTER_XDP) < 16);
	/* Unreachable instructions are left out. */
	parse("3\n6 0 0 1\n40 0 0 12\n6 0 0 0\n");
	assert_true(translate(FILTER_XDP) < 16);

	/* The longest filter, of the longest loads: jumps go through relays. */
	filter.len = FILTER_LEN_MAX;
	for (uint32_t i = 0; i < filter.len; i++)
		filter.code[i] = (struct sock_filter){ BPF_LD | BPF_W | BPF_IND, 0, 0, 14 };
	filter.code[0] = (struct sock_filter){ BPF_JMP | BPF_JSET | BPF_K, 1, 0, 5 };
	filter.code[1] = (struct sock_filter){ BPF_JMP | BPF_JA, 0, 0, filter.len - 3 };
	filter.code[filter.len - 1] = (struct sock_filter){ BPF_RET | BPF_A, 0, 0, 0 };
	assert_int_equal(filter_check(&filter, why, sizeof(why)), 0);
	assert_true(translate(FILTER_XDP) > 32767);
	assert_true(translate(FILTER_SKB) > 65536);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_and_long),
	};

	return cmocka_run_group_tests_name("filter_bpf", tests, NULL, NULL);
}
