// SPDX-License-Identifier: GPL-2.0
/*
 * Filter, eBPF instructions: see filter_emit.h. Always holds: an instruction that does not fit sets
 * no_memory or too_far, and later calls are harmless. The caller checks both once at the end.
 */
#include "filter_emit.h"

#include <stdlib.h>

#define INSNS_MAX (1 << 20) /* BPF_COMPLEXITY_LIMIT_INSNS: the kernel's limit */

static bool grow(struct emitter *e)
{
	uint32_t room = e->room ? e->room * 2 : 1024;
	struct bpf_insn *insns = realloc(e->insns, room * sizeof(*insns));
	uint16_t *from;
	struct fixup *fixups;

	e->insns = insns ?: e->insns;
	from = insns ? realloc(e->from, room * sizeof(*from)) : NULL;
	e->from = from ?: e->from;
	fixups = from ? realloc(e->fixups, room * sizeof(*fixups)) : NULL;
	e->fixups = fixups ?: e->fixups;
	e->room = fixups ? room : e->room;
	return fixups;
}

void emit(struct emitter *e, uint8_t code, uint8_t dst, uint8_t src, int16_t off, int32_t imm)
{
	if (e->len == e->room && (e->room >= INSNS_MAX || !grow(e))) {
		e->no_memory = true;
		return;
	}
	if ((BPF_CLASS(code) == BPF_LDX && src == BPF_REG_10) ||
	    (BPF_CLASS(code) == BPF_STX && dst == BPF_REG_10))
		off += e->stack;
	e->from[e->len] = e->now;
	e->insns[e->len++] = (struct bpf_insn){ code, dst, src, off, imm };
}

void emit_alu(struct emitter *e, uint8_t op, uint8_t dst, uint8_t src)
{
	emit(e, BPF_ALU | op | BPF_X, dst, src, 0, 0);
}

void emit_alu_k(struct emitter *e, uint8_t op, uint8_t dst, int32_t k)
{
	emit(e, BPF_ALU | op | BPF_K, dst, 0, 0, k);
}

void emit_alu64(struct emitter *e, uint8_t op, uint8_t dst, uint8_t src)
{
	emit(e, BPF_ALU64 | op | BPF_X, dst, src, 0, 0);
}

void emit_alu64_k(struct emitter *e, uint8_t op, uint8_t dst, int32_t k)
{
	emit(e, BPF_ALU64 | op | BPF_K, dst, 0, 0, k);
}

void emit_skip(struct emitter *e, uint8_t code, uint8_t dst, int32_t imm, int16_t over)
{
	emit(e, code, dst, 0, over, imm);
}

void emit_jump(struct emitter *e, uint8_t code, uint8_t dst, uint8_t src, int32_t imm,
	       uint32_t label)
{
	uint32_t at = e->len;

	emit(e, code, dst, src, 0, imm);
	if (e->no_memory)
		return;
	e->fixups[e->fixups_len++] = (struct fixup){ at, label };
	e->wanted[label] = true;
}

void emit_go(struct emitter *e, uint32_t label)
{
	emit_jump(e, BPF_JMP | BPF_JA, 0, 0, 0, label);
}

void emit_label(struct emitter *e, uint32_t label)
{
	e->labels[label] = e->len;
}

void emit_resolve(struct emitter *e, uint32_t first)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < e->fixups_len; i++) {
		const struct fixup x = e->fixups[i];
		int64_t off = (int64_t)e->labels[x.label] - x.at - 1;

		if (x.label < first) {
			e->fixups[left++] = x;
			continue;
		}
		e->too_far |= off != (int16_t)off;
		e->insns[x.at].off = off;
	}
	e->fixups_len = left;
}

/* One relay for all jumps to a place. Only unconditional jumps go far: conditional jumps of classic
 * BPF reach 255 instructions. */
void emit_relays(struct emitter *e)
{
	uint32_t count = e->fixups_len, left = 0, first = e->len;

	for (uint32_t i = 0; i < count && !e->no_memory; i++) {
		const struct fixup x = e->fixups[i];
		uint32_t k = 0;

		if (e->insns[x.at].code != (BPF_JMP | BPF_JA) || x.label <= e->now ||
		    x.label >= LABEL_OWN) {
			e->fixups[left++] = x;
			continue;
		}
		while (k < left && (e->fixups[k].label != x.label || e->fixups[k].at < first))
			k++;
		if (k == left) {
			e->fixups[left++] = (struct fixup){ e->len, x.label };
			emit(e, BPF_JMP | BPF_JA, 0, 0, 0, 0);
		}
		e->too_far |= e->fixups[k].at - x.at - 1 > INT16_MAX;
		e->insns[x.at].off = e->fixups[k].at - x.at - 1;
	}
	e->fixups_len = left;
}
