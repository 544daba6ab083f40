/* SPDX-License-Identifier: GPL-2.0 */
/* Filter: registers, stack and labels of the two translations, of filter_bpf.c and filter_slow.c.
 */
#ifndef AGENT_FILTER_PARTS_H
#define AGENT_FILTER_PARTS_H

#include <saluki/filter_place.h>

#include "filter_emit.h"

#define TAG 12 /* offset of a VLAN tag on the wire */
#define TAG_END 16

enum {
	TMP = BPF_REG_0,
	VLAN = BPF_REG_1, /* tc, first translation: the tag outside the frame in host order, or 0 */
	DATA = BPF_REG_2, /* first translation */
	END = BPF_REG_3,  /* first translation */
	S = BPF_REG_4,	  /* tc, first translation: 4 minus that tag's length: 4 or 0 */
	B = BPF_REG_5,	  /* 0; for the verifier: 0 or 1. First translation */
	A = BPF_REG_6,
	X = BPF_REG_7,
	CTX = BPF_REG_8, /* tc */
	Z = BPF_REG_9,	 /* 0; for the verifier: unknown */
	FP = BPF_REG_10,
};

/* The stack after the scratch memory. Each slot begins at a multiple of 8. */
enum {
	VLAN_SLOT = -8 * (BPF_MEMWORDS + 1), /* as VLAN and S; tc */
	S_SLOT = VLAN_SLOT - 8,
	LEN_SLOT = S_SLOT - 8, /* frame length as on the wire; second translation */
	LOADED = LEN_SLOT - 8, /* bytes that the kernel loaded; second translation */
	FIRST = LOADED - 24,   /* the frame's first 20 bytes as on the wire, and 4 zeros, as three
				* words whose upper ends come first; second translation */
};

_Static_assert(FIRST == -FILTER_STACK, "the program leaves this room");

/* Targets of jumps. */
enum {
	REFUSE = LABEL_OWN,
	NOT_THERE, /* a load is outside the frame's first piece */
	AGAIN,	   /* the second translation */
	DONE,	   /* the verdict is in TMP */
	LISTED,	   /* A is in the list (filter_chain.c) */
};

/* Makes a register unknown to the verifier. */
static inline void part_forget(struct emitter *e, uint8_t reg)
{
	emit_alu(e, BPF_XOR, reg, Z);
}

static inline void part_copy(struct emitter *e, uint8_t dst, uint8_t src)
{
	emit_alu(e, BPF_MOV, dst, src);
	part_forget(e, dst);
}

/* A jump that is always taken, though the verifier also follows the next instruction: it refuses
 * unreachable code. */
static inline void part_go_surely(struct emitter *e, uint32_t label)
{
	emit_alu(e, BPF_MOV, TMP, Z);
	emit_alu_k(e, BPF_AND, TMP, 1);
	emit_jump(e, BPF_JMP32 | BPF_JEQ | BPF_K, TMP, 0, 0, label);
}

static inline void part_return(struct emitter *e, bool accept)
{
	emit_alu64_k(e, BPF_MOV, TMP, accept);
	emit_go(e, DONE);
}

static inline uint8_t part_size(uint32_t size)
{
	return size == 4 ? BPF_W : size == 2 ? BPF_H : BPF_B;
}

static inline void part_to_host(struct emitter *e, uint8_t reg, uint32_t size)
{
	if (size > 1)
		emit(e, BPF_ALU | BPF_END | BPF_TO_BE, reg, 0, 0, size * 8);
}

#endif
