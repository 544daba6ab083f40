// SPDX-License-Identifier: GPL-2.0
/* Splice: see splice.h. */
#include "splice.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/programs/insn.h"

/* Both are five instructions, so that no later instruction moves. */
static const struct bpf_insn calls[] = {
	{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 2 },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_0 },
	{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = 2 },
	{ .code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
	{ .code = BPF_JMP | BPF_EXIT },
};
static const struct bpf_insn runs_on[] = {
	{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_0, .off = 2 },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
	{ .code = BPF_JMP | BPF_EXIT },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_0 },
	{ .code = BPF_JMP | BPF_JA }, /* the verifier removes it */
};
#define TAIL (sizeof(calls) / sizeof(calls[0]))
_Static_assert(sizeof(calls) == sizeof(runs_on), "nothing moves");

static bool calls_function(const struct bpf_insn *i)
{
	return insn_is_call(i) || (insn_is_wide(i) && i->src_reg == BPF_PSEUDO_FUNC);
}

/* Returns the shim's end, where libbpf puts the first called function. 0: not found. */
static size_t shim_end(const struct bpf_insn *insns, size_t count)
{
	for (size_t i = 2; i + 2 < count; i++)
		if (calls_function(&insns[i]))
			return memcmp(&insns[i - 2], calls, sizeof(calls)) ? 0 : i + 3;
	return 0;
}

static bool is_called(const struct bpf_insn *insns, size_t count, size_t from, size_t function)
{
	for (size_t i = from; i < count; i++)
		if (calls_function(&insns[i]) && i + 1 + insns[i].imm == function)
			return true;
	return false;
}

/* The verifier checked this while the module was a function of its own. */
static bool jumps_into_shim(const struct bpf_insn *insns, size_t count, size_t end)
{
	for (size_t i = end; i < count; i++)
		if (insn_is_jump(&insns[i]) && insn_target(&insns[i], i) < (int64_t)end)
			return true;
	return false;
}

/* Removes the module's entry from BTF's functions. libbpf has a copy for this program. */
static void drop_function(struct bpf_prog_load_opts *opts, size_t function)
{
	size_t len = opts->func_info_rec_size;
	char *info = (char *)opts->func_info;

	for (__u32 i = 0; i < opts->func_info_cnt; i++) {
		if (((struct bpf_func_info *)(info + i * len))->insn_off != function)
			continue;
		memmove(info + i * len, info + (i + 1) * len, (opts->func_info_cnt - i - 1) * len);
		opts->func_info_cnt--;
	}
}

int splice_module(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	size_t count = bpf_program__insn_cnt(prog), len = count * sizeof(struct bpf_insn);
	const struct bpf_insn *is = bpf_program__insns(prog);
	size_t end = shim_end(is, count);
	struct bpf_insn *insns;
	int err;

	(void)cookie;
	if (!end || is_called(is, count, end, end))
		return -EPROTO;
	if (jumps_into_shim(is, count, end))
		return -ERANGE;
	insns = malloc(len);
	if (!insns)
		return -ENOMEM;
	memcpy(insns, is, len);
	memcpy(&insns[end - TAIL], runs_on, sizeof(runs_on));
	err = bpf_program__set_insns(prog, insns, count);
	free(insns);
	if (!err)
		drop_function(opts, end);
	return err;
}
