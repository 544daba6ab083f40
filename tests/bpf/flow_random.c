// SPDX-License-Identifier: GPL-2.0
/* Random programs: see flow_random.h. */
#include "flow_random.h"

#include <stdbool.h>
#include <string.h>

#define BODY 14	   /* random instructions per function, at most */
#define MEMSX 0x80 /* BPF_MEMSX, Linux 6.6 */

/* ---- random numbers -------------------------------------------------------------------------- */

static uint64_t state;

void random_seed(uint64_t seed)
{
	state = seed;
}

uint32_t chance(uint32_t below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % below;
}

static const int *map_fds;

/* ---- instructions ---------------------------------------------------------------------------- */

void put(struct program *p, uint8_t code, uint8_t dst, uint8_t src, int16_t off, int32_t imm)
{
	p->insns[p->count++] = (struct bpf_insn){ code, dst, src, off, imm };
}

void put_map(struct program *p, uint8_t reg, int which)
{
	put(p, BPF_LD | BPF_IMM | BPF_DW, reg, BPF_PSEUDO_MAP_FD, 0, map_fds[which]);
	put(p, 0, 0, 0, 0, 0);
}

void put_call(struct program *p, int helper)
{
	put(p, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

uint8_t any(void)
{
	return ONE_OF(0, 1, 2, 3, 6, 6, 7, 8, 8, 9, 9, 10);
}

uint8_t own(void)
{
	return ONE_OF(0, 1, 2, 3, 8, 8, 9, 9);
}

static int size(void)
{
	return ONE_OF(BPF_DW, BPF_DW, BPF_DW, BPF_W, BPF_H, BPF_B);
}

/* An offset within the stack, or from a value's beginning. */
static int16_t offset(uint8_t reg, int size_code)
{
	int step = size_code == BPF_DW ? 8 : size_code == BPF_W ? 4 : size_code == BPF_H ? 2 : 1;

	return reg == 10 ? -STACK + (int)chance(STACK / step) * step : (int)chance(4) * 8;
}

/* A load, with or without sign extension. */
static void put_load(struct program *p, uint8_t reg, uint8_t from, int16_t at, int s)
{
	bool sign = s != BPF_DW && chance(3) == 0;

	put(p, BPF_LDX | (sign ? MEMSX : BPF_MEM) | s, reg, from, at, 0);
}

/* Emits the value there. */
static void make_said(struct program *p, uint8_t from, int16_t at, int s)
{
	put_load(p, 1, from, at, s);
	put(p, BPF_STX | BPF_MEM | s, 6, 1, offset(6, s), 0);
}

static void make_memory(struct program *p)
{
	uint8_t reg = ONE_OF(6, 7, 8, 9, 10, 10, 10, 10, 10);
	int s = size();

	switch (chance(6)) {
	case 0:
	case 1:
		put_load(p, own(), reg, offset(reg, s), s);
		break;
	case 4:
		make_said(p, reg, offset(reg, s), s);
		break;
	case 2:
	case 3:
		put(p, BPF_STX | BPF_MEM | s, reg, any(), offset(reg, s), 0);
		break;
	default:
		put(p, BPF_ST | BPF_MEM | s, reg, 0, offset(reg, s), chance(16));
	}
}

static void make_atomic(struct program *p)
{
	uint8_t reg = ONE_OF(6, 7, 9, 10, 10);
	int s = ONE_OF(BPF_DW, BPF_DW, BPF_W);

	put(p, BPF_STX | BPF_ATOMIC | s, reg, any(), offset(reg, s),
	    ONE_OF(BPF_ADD, BPF_ADD | BPF_FETCH, BPF_XCHG, BPF_CMPXCHG, BPF_OR));
}

/* Negates a register, or swaps its bytes. */
static void make_turned(struct program *p, uint8_t reg)
{
	int width = ONE_OF(16, 32, 64);

	switch (chance(4)) {
	case 0:
	case 1:
		put(p, ONE_OF(BPF_ALU, BPF_ALU64) | BPF_NEG, reg, 0, 0, 0);
		break;
	case 2:
		put(p, BPF_ALU | BPF_END | ONE_OF(BPF_TO_LE, BPF_TO_BE), reg, 0, 0, width);
		break;
	default: /* since Linux 6.6 */
		put(p, BPF_ALU64 | BPF_END, reg, 0, 0, width);
	}
}

static void make_arithmetic(struct program *p)
{
	int op = ONE_OF(BPF_ADD, BPF_ADD, BPF_SUB, BPF_AND, BPF_XOR, BPF_MUL, BPF_LSH);

	switch (chance(7)) {
	case 0:
		put(p, BPF_ALU64 | BPF_MOV | BPF_X, own(), any(), 0, 0);
		break;
	case 6:
		make_turned(p, own());
		break;
	case 1:
		put(p, ONE_OF(BPF_ALU64, BPF_ALU) | BPF_MOV | BPF_K, own(), 0, 0, chance(24));
		break;
	case 2:
		put(p, BPF_ALU | BPF_MOV | BPF_X, own(), any(), 0, 0);
		break;
	case 3:
		put(p, BPF_ALU64 | BPF_ADD | BPF_K, own(), 0, 0, ONE_OF(-8, -16, -24, 8, 16));
		break;
	case 4:
		put(p, BPF_ALU64 | op | BPF_X, own(), any(), 0, 0);
		break;
	default:
		put(p, ONE_OF(BPF_ALU64, BPF_ALU64, BPF_ALU) | op | BPF_K, own(), 0, 0, chance(8));
	}
}

void make_index(struct program *p, uint8_t reg)
{
	int s = size(), most = ONE_OF(1, 3, 7, 15, 5, 11);
	bool turned = chance(3) == 0, wide = chance(2);

	put_load(p, reg, 6, offset(6, s), s);
	if (turned && chance(3)) {
		put(p, BPF_ALU64 | BPF_AND | BPF_K, reg, 0, 0, ONE_OF(1, 3, 255));
		make_turned(p, reg);
	}
	/* A division or a shift shows best how the sign or the upper bytes were handled. */
	switch (turned ? ONE_OF(0, 4, 4, 4) : (int)chance(6)) {
	case 0:
		put(p, ONE_OF(BPF_ALU64, BPF_ALU) | ONE_OF(BPF_MOD, BPF_DIV) | BPF_K, reg, 0, 0,
		    most);
		put(p, BPF_JMP | BPF_JLE | BPF_K, reg, 0, 1, ONE_OF(3, 15));
		put(p, BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, 0);
		break;
	case 1:
		put(p, BPF_JMP | ONE_OF(BPF_JLE, BPF_JLT) | BPF_K, reg, 0, 1, most);
		put(p, BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, chance(8));
		break;
	case 2:
		put(p, ONE_OF(BPF_JMP, BPF_JMP32) | BPF_JLE | BPF_K, reg, 0, 1, most);
		put(p, BPF_ALU | BPF_MOV | BPF_K, reg, 0, 0, chance(8));
		break;
	case 3:
		put(p, BPF_ALU64 | BPF_AND | BPF_K, reg, 0, 0, 3);
		put(p, ONE_OF(BPF_ALU64, BPF_ALU) | ONE_OF(BPF_LSH, BPF_MUL) | BPF_K, reg, 0, 0,
		    ONE_OF(1, 2));
		break;
	case 4:
		put(p, (wide ? BPF_ALU64 : BPF_ALU) | BPF_RSH | BPF_K, reg, 0, 0, wide ? 60 : 28);
		break;
	default:
		put(p, ONE_OF(BPF_ALU64, BPF_ALU) | BPF_AND | BPF_K, reg, 0, 0, most);
	}
	if (chance(3) == 0)
		put(p, ONE_OF(BPF_ALU64, BPF_ALU) | ONE_OF(BPF_ADD, BPF_SUB) | BPF_K, reg, 0, 0,
		    chance(5));
}

/* An address as in real code: of the stack, or of a map's value, moved by data. */
static void make_address(struct program *p)
{
	uint8_t reg = own(), by = ONE_OF(0, 1, 2);

	switch (chance(4)) {
	case 0:
		put(p, BPF_ALU64 | BPF_MOV | BPF_X, reg, 10, 0, 0);
		put(p, BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0, -8 * (int)(1 + chance(4)));
		break;
	case 1:
		put_map(p, reg, chance(3));
		break;
	default:
		make_index(p, by);
		if (chance(4)) {
			put(p, BPF_ALU64 | BPF_MOV | BPF_X, reg, 10, 0, 0);
			put(p, BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0,
			    ONE_OF(0, -STACK, -STACK, -16));
		} else {
			put(p, BPF_ALU64 | BPF_MOV | BPF_X, reg, 6, 0, 0);
		}
		put(p, BPF_ALU64 | ONE_OF(BPF_ADD, BPF_ADD, BPF_SUB) | BPF_X, reg, by, 0, 0);
		if (chance(2))
			make_said(p, reg, ONE_OF(0, 0, -4, 4, 8), BPF_B); /* aligned */
		else if (chance(2)) /* was that the right guess? */
			put(p, BPF_JMP | ONE_OF(BPF_JEQ, BPF_JNE) | BPF_K, reg, 0, 0, 0);
	}
}

void put_stack(struct program *p, uint8_t reg)
{
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, reg, ONE_OF(10, 10, 10, 8, 9, 6), 0, 0);
	put(p, BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0,
	    ONE_OF(-8, -16, -24, -32, -4, -12, 0, SAVED));
}

/* Written on one of two paths, and then read. */
static void make_half_written(struct program *p)
{
	int s = size();
	int16_t at = offset(10, s);

	put(p, BPF_LDX | BPF_MEM | BPF_B, 1, 6, chance(VALUE), 0);
	put(p, BPF_JMP | ONE_OF(BPF_JEQ, BPF_JNE) | BPF_K, 1, 0, 1, chance(3));
	put(p, BPF_ST | BPF_MEM | s, 10, 0, at, 0);
	make_said(p, 10, at, s);
}

static void make_branch(struct program *p)
{
	if (chance(4) == 0) {
		make_half_written(p);
		return;
	}
	if (chance(3)) {
		put(p, BPF_JMP | ONE_OF(BPF_JEQ, BPF_JNE) | BPF_K, any(), 0, 1 + chance(4), 0);
		return;
	}
	if (chance(2))
		put(p, BPF_JMP | ONE_OF(BPF_JEQ, BPF_JGT) | BPF_K, any(), 0, 1 + chance(4), 5);
	else
		put(p, ONE_OF(BPF_JMP, BPF_JMP32) | ONE_OF(BPF_JEQ, BPF_JGT) | BPF_X, any(), any(),
		    1 + chance(4), 0);
}

static void make_body(struct program *p)
{
	static void (*const kinds[])(struct program *) = {
		make_memory,	 make_memory,  make_memory,  make_memory, make_arithmetic,
		make_arithmetic, make_atomic,  make_branch,  make_call,	  make_record,
		make_address,	 make_address, make_address,
	};

	/* Most long ones are refused for unrelated reasons. */
	for (uint32_t n = chance(2) ? 1 + chance(3) : 4 + chance(BODY - 4); n; n--)
		kinds[chance(sizeof(kinds) / sizeof(kinds[0]))](p);
}

/* Jumps skip four instructions at most. */
static void put_end(struct program *p)
{
	for (int n = 0; n < 4; n++)
		put(p, BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
	put(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

void random_program(struct program *p, const int maps[MAPS])
{
	size_t call = 0;

	map_fds = maps;
	memset(p, 0, sizeof(*p));
	put(p, BPF_ST | BPF_MEM | BPF_W, 10, 0, -40, 0);
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0);
	put(p, BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -40);
	put_map(p, 1, ARRAY);
	put_call(p, BPF_FUNC_map_lookup_elem);
	put(p, BPF_JMP | BPF_JNE | BPF_K, 0, 0, 1, 0);
	put(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, 6, 0, 0, 0);
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, 7, 0, 0, 0);
	for (int reg = 0; reg < 10; reg++)
		if (reg != 6 && reg != 7)
			put(p, BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, chance(3) * 8);
	make_body(p);
	if (chance(3) == 0) {
		put_stack(p, 1);
		put(p, BPF_ALU64 | BPF_MOV | BPF_X, 2, any(), 0, 0);
		call = p->count;
		put(p, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0);
		for (int reg = 1; reg < 6; reg++)
			put(p, BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, 0);
		make_memory(p);
		make_memory(p);
	}
	put_end(p);
	if (!call)
		return;
	p->insns[call].imm = p->count - call - 1;
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0);
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, 7, 2, 0, 0);
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, 8, 1, 0, 0);
	for (int reg = 0; reg < 10; reg++)
		if (reg < 6 || reg == 9)
			put(p, BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, chance(3) * 8);
	make_body(p);
	put_end(p);
}
