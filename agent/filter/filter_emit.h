/* SPDX-License-Identifier: GPL-2.0 */
/* Filter: writes eBPF instructions for filter_bpf.c, with jumps forward to labels. */
#ifndef AGENT_FILTER_EMIT_H
#define AGENT_FILTER_EMIT_H

#include <linux/bpf.h>

#include "filter.h"

/* Labels: the numbers of classic instructions, and these. */
enum { LABEL_OWN = FILTER_LEN_MAX, LABELS_MAX = LABEL_OWN + 5 };

struct fixup {
	uint32_t at, label;
};

struct emitter {
	struct bpf_insn *insns;
	uint16_t *from; /* for each, the classic instruction that it came from: `now` at the time */
	uint32_t len, room;
	uint16_t now;
	int16_t stack;	      /* its end: added to all offsets from the frame pointer */
	struct fixup *fixups; /* jumps with an open distance */
	uint32_t fixups_len;
	uint32_t labels[LABELS_MAX];
	bool wanted[LABELS_MAX]; /* a jump leads there */
	bool no_memory, too_far; /* the code is unusable */
};

void emit(struct emitter *e, uint8_t code, uint8_t dst, uint8_t src, int16_t off, int32_t imm);
/* 32-bit operations clear the upper half. 64-bit ones are for pointers. */
void emit_alu(struct emitter *e, uint8_t op, uint8_t dst, uint8_t src);
void emit_alu_k(struct emitter *e, uint8_t op, uint8_t dst, int32_t k);
void emit_alu64(struct emitter *e, uint8_t op, uint8_t dst, uint8_t src);
void emit_alu64_k(struct emitter *e, uint8_t op, uint8_t dst, int32_t k);
/* A jump by a known distance. */
void emit_skip(struct emitter *e, uint8_t code, uint8_t dst, int32_t imm, int16_t over);
void emit_jump(struct emitter *e, uint8_t code, uint8_t dst, uint8_t src, int32_t imm,
	       uint32_t label);
void emit_go(struct emitter *e, uint32_t label);
/* Places the label here. */
void emit_label(struct emitter *e, uint32_t label);
/* Fills in the distances of jumps to labels from `first` on. */
void emit_resolve(struct emitter *e, uint32_t first);
/* Makes relays for pending jumps to later classic instructions. */
void emit_relays(struct emitter *e);

#endif
