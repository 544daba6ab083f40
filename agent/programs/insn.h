/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Insn: classifies BPF instructions (RFC 9669), for code that checks programs before the kernel
 * does.
 */
#ifndef AGENT_PROGRAMS_INSN_H
#define AGENT_PROGRAMS_INSN_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Loads a 64-bit number: two slots. */
static inline bool insn_is_wide(const struct bpf_insn *i)
{
	return i->code == (BPF_LD | BPF_IMM | BPF_DW);
}

/* Calls a function of the program. */
static inline bool insn_is_call(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP | BPF_CALL) && i->src_reg == BPF_PSEUDO_CALL;
}

/* Jumps in its function, conditional or not. */
static inline bool insn_is_jump(const struct bpf_insn *i)
{
	uint8_t class = BPF_CLASS(i->code), op = BPF_OP(i->code);

	return (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT;
}

/* Returns the target of the nth instruction, a jump or a function call; it may be outside the
 * program. */
static inline int64_t insn_target(const struct bpf_insn *i, size_t n)
{
	bool is_long = insn_is_call(i) || i->code == (BPF_JMP32 | BPF_JA);

	return (int64_t)n + 1 + (is_long ? i->imm : i->off);
}

#endif
