// SPDX-License-Identifier: GPL-2.0
/* Calls of helpers, in random programs: see flow_random.h. */
#include "flow_random.h"

/* An argument that a helper takes as a number, such as flags: it must not be an address. */
static void put_number(struct program *p, uint8_t reg, int32_t number)
{
	if (chance(8))
		put(p, BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, number);
	else
		put(p, BPF_ALU64 | BPF_MOV | BPF_X, reg, any(), 0, 0);
}

/* A place for a helper's output, indexed or not. */
static void put_place(struct program *p, uint8_t reg)
{
	if (chance(2)) {
		put_stack(p, reg);
		return;
	}
	make_index(p, 1);
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, reg, 10, 0, 0);
	put(p, BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0, -STACK);
	put(p, BPF_ALU64 | BPF_ADD | BPF_X, reg, 1, 0, 0);
}

void make_call(struct program *p)
{
	switch (chance(6)) {
	case 5: /* as compilers save a register, below everything else */
		put(p, BPF_STX | BPF_MEM | BPF_DW, 10, 1, SAVED, 0);
		put_call(p, BPF_FUNC_get_smp_processor_id);
		put(p, BPF_LDX | BPF_MEM | BPF_DW, 1, 10, SAVED, 0);
		break;
	case 0:
		put_stack(p, 2);
		put_map(p, 1, ARRAY);
		put_call(p, BPF_FUNC_map_lookup_elem);
		put(p, BPF_JMP | BPF_JNE | BPF_K, 0, 0, 1, 0);
		put(p, BPF_ALU64 | BPF_MOV | BPF_X, 0, ONE_OF(6, 7, 10), 0, 0);
		break;
	case 1:
		put_stack(p, 2);
		put_stack(p, 3);
		put_number(p, 4, 0);
		put_map(p, 1, ARRAY);
		put_call(p, BPF_FUNC_map_update_elem);
		break;
	case 2:
		put_place(p, 2);
		put_map(p, 1, QUEUE);
		put_call(p, BPF_FUNC_map_pop_elem);
		break;
	case 3:
		put_stack(p, 2);
		put_number(p, 3, 0);
		put_map(p, 1, QUEUE);
		put_call(p, BPF_FUNC_map_push_elem);
		break;
	default:
		put_stack(p, 2);
		put(p, ONE_OF(BPF_ALU, BPF_ALU64) | BPF_MOV | BPF_K, 3, 0, 0, 8 + chance(9));
		put_number(p, 4, 0);
		put_map(p, 1, RING);
		put_call(p, BPF_FUNC_ringbuf_output);
	}
}

/* ---- records of a ring ----------------------------------------------------------------------- */

/* Makes it readable: overwrites the bytes left by other programs. */
static void make_in_record(struct program *p)
{
	switch (chance(3)) {
	case 0:
		put(p, BPF_LDX | BPF_MEM | ONE_OF(BPF_DW, BPF_W, BPF_B), own(), 0, 0, 0);
		break;
	case 1:
		put(p, BPF_STX | BPF_MEM | BPF_DW, 0, any(), 0, 0);
		break;
	default:
		put(p, BPF_ST | BPF_MEM | BPF_W, 0, 0, 4, chance(16));
	}
}

/* Uses the rest of its address after it was given back. */
static void make_after_record(struct program *p, uint8_t kept)
{
	switch (chance(4)) {
	case 0:
		put(p, BPF_STX | BPF_MEM | BPF_DW, 6, kept, 0, 0);
		break;
	case 1:
		put(p, BPF_JMP | ONE_OF(BPF_JEQ, BPF_JNE) | BPF_K, kept, 0, 0, 0);
		break;
	default:
		put(p, BPF_ALU64 | BPF_MOV | BPF_K, kept, 0, 0, 0);
	}
}

/* Reserves a record, fills it and gives it back; without room, does nothing. */
void make_record(struct program *p)
{
	uint8_t kept = ONE_OF(8, 9);
	size_t check;

	put(p, BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, ONE_OF(8, 16));
	put_number(p, 3, 0);
	put_map(p, 1, RING);
	put_call(p, BPF_FUNC_ringbuf_reserve);
	check = p->count;
	put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 0, 0);
	put(p, BPF_ST | BPF_MEM | BPF_DW, 0, 0, 0, 0);
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, kept, 0, 0, 0);
	for (uint32_t n = chance(3); n; n--)
		make_in_record(p);
	if (chance(3) == 0)
		put(p, BPF_ALU64 | BPF_ADD | BPF_K, kept, 0, 0, ONE_OF(-4096, 8));
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, 1, 0, 0, 0);
	put_number(p, 2, 0);
	put_call(p, ONE_OF(BPF_FUNC_ringbuf_submit, BPF_FUNC_ringbuf_discard));
	make_after_record(p, kept);
	p->insns[check].off = p->count - check - 1;
}
