// SPDX-License-Identifier: GPL-2.0
/*
 * Filter, the second translation: for tc frames in several pieces, or loads across the boundary of
 * a tag outside the frame. Loads call bpf_skb_load_bytes(). If there is a tag, the frame's first
 * bytes as on the wire, with the tag, are built on the stack once, and loads read them there.
 */
#include "filter_slow.h"

#include "filter_parts.h"

/* Copies `size` bytes at REG_2 to the stack. */
static void call(struct emitter *e, int16_t to, uint32_t size)
{
	emit_alu64(e, BPF_MOV, BPF_REG_1, CTX);
	emit_alu64(e, BPF_MOV, BPF_REG_3, FP);
	emit_alu64_k(e, BPF_ADD, BPF_REG_3, e->stack + to);
	emit_alu_k(e, BPF_MOV, BPF_REG_4, size);
	emit(e, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_skb_load_bytes);
}

/* Missing bytes become 0, and the length refuses loads of them. The last bytes are loaded one by
 * one, as the frame may end between them. */
void slow_begin(struct emitter *e)
{
	emit(e, BPF_STX | BPF_MEM | BPF_DW, FP, Z, FIRST + TAG_END, 0);
	emit_alu_k(e, BPF_MOV, BPF_REG_2, 0);
	call(e, FIRST, TAG);
	for (uint32_t i = 0; i < 4; i++) {
		emit_alu_k(e, BPF_MOV, BPF_REG_2, TAG + i);
		call(e, FIRST + TAG_END + i, 1);
	}
	emit(e, BPF_LDX | BPF_MEM | BPF_DW, TMP, FP, VLAN_SLOT, 0);
	part_to_host(e, TMP, 4);
	emit(e, BPF_STX | BPF_MEM | BPF_W, FP, TMP, FIRST + TAG, 0);
	for (int16_t at = FIRST; at < FIRST + 24; at += 8) {
		emit(e, BPF_LDX | BPF_MEM | BPF_DW, TMP, FP, at, 0);
		emit(e, BPF_ALU | BPF_END | BPF_TO_BE, TMP, 0, 0, 64);
		emit(e, BPF_STX | BPF_MEM | BPF_DW, FP, TMP, at, 0);
	}
	emit(e, BPF_LDX | BPF_MEM | BPF_W, TMP, CTX, offsetof(struct __sk_buff, len), 0);
	emit_alu64_k(e, BPF_ADD, TMP, 4);
	emit(e, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, FP, S_SLOT, 0);
	emit_alu64(e, BPF_SUB, TMP, BPF_REG_1);
	part_forget(e, TMP);
	emit(e, BPF_STX | BPF_MEM | BPF_DW, FP, TMP, LEN_SLOT, 0);
}

/* Loads at REG_2 from the frame's own bytes. */
static void load_called(struct emitter *e, uint8_t dst, uint32_t size)
{
	call(e, LOADED, size);
	emit_jump(e, BPF_JMP | BPF_JNE | BPF_K, TMP, 0, 0, REFUSE);
	emit(e, BPF_LDX | BPF_MEM | part_size(size), dst, FP, LOADED, 0);
	part_to_host(e, dst, size);
}

/* Loads at REG_2, below TAG_END, for a frame with a tag outside it. */
static void load_first(struct emitter *e, uint8_t dst, uint32_t size)
{
	static const uint8_t words[] = { BPF_REG_1, BPF_REG_3, BPF_REG_4 };

	emit_alu64(e, BPF_MOV, TMP, BPF_REG_2);
	emit_alu64_k(e, BPF_ADD, TMP, size);
	emit(e, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, FP, LEN_SLOT, 0);
	emit_jump(e, BPF_JMP | BPF_JGT | BPF_X, TMP, BPF_REG_1, 0, REFUSE);
	/* Before Linux 5.12 the stack cannot be read at a variable offset. */
	for (uint32_t i = 0; i < 3; i++)
		emit(e, BPF_LDX | BPF_MEM | BPF_DW, words[i], FP, FIRST + 8 * i, 0);
	emit_skip(e, BPF_JMP | BPF_JLT | BPF_K, BPF_REG_2, 8, 3);
	emit_alu64(e, BPF_MOV, words[0], words[1]);
	emit_alu64(e, BPF_MOV, words[1], words[2]);
	emit_alu64_k(e, BPF_ADD, BPF_REG_2, -8);
	/* The bytes are at bit 8 * REG_2 of the two words, counted from the top. */
	emit_alu64_k(e, BPF_LSH, BPF_REG_2, 3);
	emit_alu64(e, BPF_LSH, words[0], BPF_REG_2);
	emit_alu64_k(e, BPF_RSH, words[1], 1); /* 1 and 63, as a shift by 64 is impossible */
	emit_alu64_k(e, BPF_MOV, words[2], 63);
	emit_alu64(e, BPF_SUB, words[2], BPF_REG_2);
	emit_alu64(e, BPF_RSH, words[1], words[2]);
	emit_alu64(e, BPF_OR, words[0], words[1]);
	emit_alu64_k(e, BPF_RSH, words[0], 64 - 8 * size);
	emit_alu(e, BPF_MOV, dst, words[0]);
}

/* Loads at REG_2, after the tag. */
static void load_behind(struct emitter *e, uint8_t dst, uint32_t size)
{
	emit(e, BPF_LDX | BPF_MEM | BPF_DW, TMP, FP, S_SLOT, 0);
	emit_alu64_k(e, BPF_ADD, BPF_REG_2, -4);
	emit_alu64(e, BPF_ADD, BPF_REG_2, TMP);
	load_called(e, dst, size);
}

/* Loads at REG_2, anywhere. */
static void load(struct emitter *e, uint8_t dst, uint32_t size)
{
	uint32_t to_first, to_end;

	emit(e, BPF_LDX | BPF_MEM | BPF_DW, TMP, FP, S_SLOT, 0);
	emit_skip(e, BPF_JMP | BPF_JLT | BPF_K, BPF_REG_2, TAG_END, 3);
	emit_alu64_k(e, BPF_ADD, BPF_REG_2, -4);
	emit_alu64(e, BPF_ADD, BPF_REG_2, TMP);
	emit_skip(e, BPF_JMP | BPF_JA, 0, 0, 1);
	to_first = e->len;
	emit_skip(e, BPF_JMP32 | BPF_JEQ | BPF_K, TMP, 0, 0);
	load_called(e, dst, size);
	to_end = e->len;
	emit_skip(e, BPF_JMP | BPF_JA, 0, 0, 0);
	if (e->no_memory)
		return;
	e->insns[to_first].off = e->len - to_first - 1;
	load_first(e, dst, size);
	e->insns[to_end].off = e->len - to_end - 1;
}

void slow_load_abs(struct emitter *e, uint8_t dst, uint32_t off, uint32_t size)
{
	emit_alu_k(e, BPF_MOV, BPF_REG_2, off); /* 32 bits: no sign extension */
	if (off + size <= TAG) {
		load_called(e, dst, size);
	} else if (off >= TAG_END) {
		load_behind(e, dst, size);
	} else {
		part_forget(
			e,
			BPF_REG_2); /* or the verifier would find branches that are never taken */
		load(e, dst, size);
	}
}

void slow_load_ind(struct emitter *e, uint32_t off, uint32_t size)
{
	part_copy(e, BPF_REG_2, X);
	emit_alu64_k(e, BPF_ADD, BPF_REG_2, off);
	/* The kernel's function takes 32 bits. */
	emit_jump(e, BPF_JMP | BPF_JGT | BPF_K, BPF_REG_2, 0, INT32_MAX, REFUSE);
	if (off >= TAG_END)
		load_behind(e, A, size);
	else
		load(e, A, size);
}

void slow_load_len(struct emitter *e, uint8_t dst)
{
	emit(e, BPF_LDX | BPF_MEM | BPF_DW, dst, FP, LEN_SLOT, 0);
}
