/* SPDX-License-Identifier: GPL-2.0 */
/* Filter: eBPF instructions as filter_bpf.c writes them, with jumps forward to labels. */
#ifndef AGENT_FILTER_EMIT_H
#define AGENT_FILTER_EMIT_H

#include <linux/bpf.h>

#include "filter.h"

/* Labels: the classic instructions by their numbers, and these. */
enum { LABEL_OWN = FILTER_LEN_MAX, LABELS_MAX = LABEL_OWN + 5 };

struct fixup {
	uint32_t at, label;
};

struct emitter {
	struct bpf_insn *insns;
	uint16_t *from; /* for each the classic instruction it was made of: `now` at the time */
	uint32_t len, room;
	uint16_t now;
	int16_t stack;	      /* where it ends: added to all offsets from the frame pointer */
	struct fixup *fixups; /* jumps whose distance is not filled in */
	uint32_t fixups_len;
	uint32_t labels[LABELS_MAX];
	bool wanted[LABELS_MAX]; /* something jumps there */
	bool no_memory, too_far; /* what was written is of no use */
};

void emit(struct emitter *e, uint8_t code, uint8_t dst, uint8_t src, int16_t off, int32_t imm);
/* On 32 bits, which clears the upper ones; on 64 where pointers take part. */
void emit_alu(struct emitter *e, uint8_t op, uint8_t dst, uint8_t src);
void emit_alu_k(struct emitter *e, uint8_t op, uint8_t dst, int32_t k);
void emit_alu64(struct emitter *e, uint8_t op, uint8_t dst, uint8_t src);
void emit_alu64_k(struct emitter *e, uint8_t op, uint8_t dst, int32_t k);
/* A jump by a distance that is known. */
void emit_skip(struct emitter *e, uint8_t code, uint8_t dst, int32_t imm, int16_t over);
void emit_jump(struct emitter *e, uint8_t code, uint8_t dst, uint8_t src, int32_t imm,
	       uint32_t label);
void emit_go(struct emitter *e, uint32_t label);
/* The label is here. */
void emit_label(struct emitter *e, uint32_t label);
/* Fills the jumps in that go to labels from `first` on. */
void emit_resolve(struct emitter *e, uint32_t first);
/* Makes places for jumps to classic instructions that are still to come to go on from. */
void emit_relays(struct emitter *e);

#endif
