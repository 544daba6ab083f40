// SPDX-License-Identifier: GPL-2.0
/*
 * Filter, translated: translates classic BPF to eBPF for the place in bpf/filter.h. In: a checked
 * filter. Out: instructions that compute a frame's verdict, 1 or 0, with one exit.
 *
 * Always holds: where paths meet, the verifier knows nothing about A, X, the scratch memory and the
 * packet. So it continues once per meeting point, and accepts every filter. An exclusive or with Z
 * makes a value unknown, and adding B or S makes a pointer unknown. The verifier does not know that
 * Z and B are 0, and that S is 0 or 4.
 *
 * A load reads the packet directly. An XDP frame is contiguous, and a load beyond its end refuses
 * it; the verifier limits packets to 65,534 bytes, and few frames are as long. A tc frame may be in
 * several pieces. Then the filter, which has no side effects, starts again in a second translation,
 * whose loads call the kernel (filter_slow.c).
 */
#include "filter_bpf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter_chain.h"
#include "filter_flow.h"
#include "filter_parts.h"
#include "filter_slow.h"

struct translator {
	const struct filter *f;
	enum filter_hook hook;
	struct filter_flow flow;
	struct chain chain;
	bool slow;    /* this is the second translation */
	int32_t done; /* where DONE was last; -1: nowhere yet */
	struct emitter e;
};

#define PACKET_MAX 0xffff	   /* MAX_PACKET_OFF: the verifier's limit for offsets */
#define FIXED_MAX (PACKET_MAX - 1) /* one of them is for B */
/* Instructions per part. Jumps reach 32,767 instructions. They must also cross a list
 * (filter_chain.c), and lead from the first exits back into the program. */
#define ENDINGS_EVERY 16000

/* ---- loads ----------------------------------------------------------------------------------- */

/* Loads from the pointer in TMP plus `off`. */
static void load_checked(struct emitter *e, uint8_t dst, int32_t off, uint32_t size,
			 uint32_t behind)
{
	emit_alu64_k(e, BPF_ADD, TMP, off + size);
	emit_jump(e, BPF_JMP | BPF_JGT | BPF_X, TMP, END, 0, behind);
	emit(e, BPF_LDX | BPF_MEM | part_size(size), dst, TMP, -(int)size, 0);
	part_to_host(e, dst, size);
}

static void load_at(struct emitter *e, uint8_t dst, uint8_t unknown, int32_t off, uint32_t size,
		    uint32_t behind)
{
	emit_alu64(e, BPF_MOV, TMP, unknown);
	emit_alu64(e, BPF_ADD, TMP, DATA);
	load_checked(e, dst, off, size, behind);
}

/* Loads from the tag, which is in VLAN if it is outside the frame. */
static void load_tag(struct emitter *e, uint8_t dst, uint32_t off, uint32_t size)
{
	uint32_t mask = size == 4 ? 0xffffffff : (1U << size * 8) - 1;

	part_copy(e, dst, VLAN);
	part_copy(e, TMP, VLAN);
	/* Skips the instructions of load_at, and a jump. */
	emit_skip(e, BPF_JMP32 | BPF_JNE | BPF_K, TMP, 0, size > 1 ? 7 : 6);
	load_at(e, dst, B, off, size, NOT_THERE);
	emit_skip(e, BPF_JMP | BPF_JA, 0, 0, 2);
	emit_alu_k(e, BPF_RSH, dst, 8 * (TAG_END - off - size));
	emit_alu_k(e, BPF_AND, dst, mask);
}

static void load_abs_skb(struct emitter *e, uint8_t dst, uint32_t off, uint32_t size)
{
	if (off > FIXED_MAX - size) {
		emit_alu_k(e, BPF_MOV, dst, 0);
		part_go_surely(e, AGAIN);
	} else if (off + size <= TAG) {
		load_at(e, dst, B, off, size, NOT_THERE);
	} else if (off >= TAG_END) {
		/* If the tag is outside the frame, these bytes are 4 bytes nearer to the
		 * beginning. */
		load_at(e, dst, S, off - 4, size, NOT_THERE);
	} else if (off >= TAG && off + size <= TAG_END) {
		load_tag(e, dst, off, size);
	} else {
		part_copy(e, TMP, S);
		emit_jump(e, BPF_JMP32 | BPF_JEQ | BPF_K, TMP, 0, 0, AGAIN);
		load_at(e, dst, B, off, size, NOT_THERE);
	}
}

static void load_abs(struct translator *t, uint8_t dst, uint32_t off, uint32_t size)
{
	if (t->slow) {
		slow_load_abs(&t->e, dst, off, size);
	} else if (t->hook == FILTER_SKB) {
		load_abs_skb(&t->e, dst, off, size);
	} else if (off > FIXED_MAX - size) {
		emit_alu_k(&t->e, BPF_MOV, dst, 0);
		part_go_surely(&t->e, REFUSE);
	} else {
		load_at(&t->e, dst, B, off, size, REFUSE);
	}
}

/* The sum has 64 bits and does not wrap, as in libpcap, unlike A and X. */
static void load_ind(struct translator *t, uint32_t off, uint32_t size)
{
	struct emitter *e = &t->e;
	bool skb = t->hook == FILTER_SKB;

	if (t->slow) {
		slow_load_ind(e, off, size);
		return;
	}
	part_copy(e, TMP, X);
	emit_alu64_k(e, BPF_ADD, TMP, off);
	if (skb && off >= TAG_END) {
		emit_alu64_k(e, BPF_ADD, TMP, -4);
		emit_alu64(e, BPF_ADD, TMP, S);
	} else if (skb) {
		emit_skip(e, BPF_JMP | BPF_JLT | BPF_K, TMP, TAG_END, 3);
		emit_alu64_k(e, BPF_ADD, TMP, -4);
		emit_alu64(e, BPF_ADD, TMP, S);
		emit_skip(e, BPF_JMP | BPF_JA, 0, 0, 3);
		/* Uses a copy, so that the verifier learns nothing about S. */
		part_copy(e, A, S);
		emit_jump(e, BPF_JMP32 | BPF_JEQ | BPF_K, A, 0, 0, AGAIN);
	}
	emit_jump(e, BPF_JMP | BPF_JGT | BPF_K, TMP, 0, PACKET_MAX - size, skb ? AGAIN : REFUSE);
	emit_alu64(e, BPF_ADD, TMP, DATA);
	load_checked(e, A, 0, size, skb ? NOT_THERE : REFUSE);
}

static void load_len(struct translator *t, uint8_t dst)
{
	struct emitter *e = &t->e;

	if (t->slow) {
		slow_load_len(e, dst);
	} else if (t->hook == FILTER_XDP) {
		emit_alu64(e, BPF_MOV, dst, END);
		emit_alu64(e, BPF_SUB, dst, DATA);
	} else {
		emit(e, BPF_LDX | BPF_MEM | BPF_W, dst, CTX, offsetof(struct __sk_buff, len), 0);
		emit_alu_k(e, BPF_ADD, dst, 4);
		emit_alu(e, BPF_SUB, dst, S);
	}
}

static uint32_t size_of(uint16_t code)
{
	return BPF_SIZE(code) == BPF_W ? 4 : BPF_SIZE(code) == BPF_H ? 2 : 1;
}

static int16_t slot(uint32_t word)
{
	return -8 * (int)(word + 1);
}

static void do_load(struct translator *t, const struct sock_filter *s)
{
	uint8_t dst = BPF_CLASS(s->code) == BPF_LD ? A : X;
	struct emitter *e = &t->e;

	switch (BPF_MODE(s->code)) {
	case BPF_IMM:
		emit_alu_k(e, BPF_MOV, dst, s->k);
		break;
	case BPF_MEM:
		emit(e, BPF_LDX | BPF_MEM | BPF_DW, dst, FP, slot(s->k), 0);
		part_forget(e, dst); /* or the verifier links the two registers */
		break;
	case BPF_LEN:
		load_len(t, dst);
		break;
	case BPF_MSH:
		load_abs(t, dst, s->k, 1);
		emit_alu_k(e, BPF_AND, dst, 0xf);
		emit_alu_k(e, BPF_LSH, dst, 2);
		break;
	case BPF_IND:
		if (s->k > INT32_MAX) { /* beyond the end of any frame */
			emit_alu_k(e, BPF_MOV, dst, 0);
			part_go_surely(e, REFUSE);
		} else {
			load_ind(t, s->k, size_of(s->code));
		}
		break;
	default: /* BPF_ABS; SKF_AD loads that filter_check allows: there is no tag outside the
		    frame */
		if (s->k >= (uint32_t)SKF_AD_OFF)
			emit_alu_k(e, BPF_MOV, dst, 0);
		else
			load_abs(t, dst, s->k, size_of(s->code));
	}
}

/* ---- the other instructions ------------------------------------------------------------------ */

static void do_alu(struct emitter *e, const struct sock_filter *s)
{
	uint8_t op = BPF_OP(s->code);
	bool by_x = BPF_SRC(s->code) == BPF_X && op != BPF_NEG;

	if (by_x && (op == BPF_DIV || op == BPF_MOD)) {
		part_copy(e, TMP, X);
		emit_jump(e, BPF_JMP32 | BPF_JEQ | BPF_K, TMP, 0, 0, REFUSE);
		emit_alu(e, op, A, TMP);
	} else if (by_x && (op == BPF_LSH || op == BPF_RSH)) {
		part_copy(e, TMP, X);
		emit_skip(e, BPF_JMP32 | BPF_JLT | BPF_K, TMP, 32, 2);
		emit_alu_k(e, BPF_MOV, A, 0);
		emit_skip(e, BPF_JMP | BPF_JA, 0, 0, 1);
		emit_alu(e, op, A, TMP);
	} else if (by_x) {
		emit_alu(e, op, A, X);
	} else {
		emit_alu_k(e, op, A, op == BPF_NEG ? 0 : s->k);
	}
}

static uint8_t inverse(uint8_t op)
{
	switch (op) {
	case BPF_JEQ:
		return BPF_JNE;
	case BPF_JGT:
		return BPF_JLE;
	case BPF_JGE:
		return BPF_JLT;
	case BPF_JSGT:
		return BPF_JSLE;
	case BPF_JSGE:
		return BPF_JSLT;
	case BPF_JNE:
		return BPF_JEQ;
	default: /* BPF_JSET */
		return 0;
	}
}

/* A comparison of a register with a constant. */
struct condition {
	uint8_t class, op, reg;
	int32_t k;
};

/* Goes one way or the other. */
static void branch(struct emitter *e, const struct condition *c, uint32_t next, uint32_t yes,
		   uint32_t no)
{
	if (yes == no) {
		emit_go(e, yes);
	} else if (yes == next && inverse(c->op)) {
		emit_jump(e, c->class | inverse(c->op) | BPF_K, c->reg, 0, c->k, no);
	} else {
		emit_jump(e, c->class | c->op | BPF_K, c->reg, 0, c->k, yes);
		if (no != next)
			emit_go(e, no);
	}
}

/* Compares a difference or a part of A, as the verifier would learn facts about X from a direct
 * comparison. */
static struct condition compare_with_x(struct emitter *e, uint8_t op)
{
	emit_alu(e, BPF_MOV, TMP, A);
	switch (op) {
	case BPF_JEQ:
		emit_alu(e, BPF_XOR, TMP, X);
		return (struct condition){ BPF_JMP32, BPF_JEQ, TMP, 0 };
	case BPF_JSET:
		emit_alu(e, BPF_AND, TMP, X);
		return (struct condition){ BPF_JMP32, BPF_JNE, TMP, 0 };
	default:
		emit_alu64(e, BPF_SUB, TMP, X);
		return (struct condition){ BPF_JMP, op == BPF_JGT ? BPF_JSGT : BPF_JSGE, TMP, 0 };
	}
}

static void do_jump(struct emitter *e, const struct sock_filter *s, uint32_t next)
{
	struct condition c = { BPF_JMP32, BPF_OP(s->code), A, s->k };

	if (c.op == BPF_JA) {
		if (s->k)
			emit_go(e, next + s->k);
		return;
	}
	if (BPF_SRC(s->code) == BPF_X)
		c = compare_with_x(e, c.op);
	branch(e, &c, next, next + s->jt, next + s->jf);
}

static void do_return(struct emitter *e, const struct sock_filter *s)
{
	if (BPF_RVAL(s->code) == BPF_A) {
		part_copy(e, TMP, A);
		emit_jump(e, BPF_JMP32 | BPF_JEQ | BPF_K, TMP, 0, 0, REFUSE);
		part_return(e, true);
	} else {
		part_return(e, s->k);
	}
}

static void do_misc(struct emitter *e, const struct sock_filter *s)
{
	if (s->code == (BPF_MISC | BPF_TAX))
		emit_alu(e, BPF_MOV, X, A);
	else
		emit_alu(e, BPF_MOV, A, X);
}

/* Returns the next one to translate. */
static uint32_t instruction(struct translator *t, uint32_t i)
{
	const struct sock_filter *s = &t->f->code[i];
	uint32_t next = i + 1;

	t->e.now = i;
	emit_label(&t->e, i);
	if (t->flow.ways[i] > 1 && t->flow.a[i])
		part_forget(&t->e, A);
	if (t->flow.ways[i] > 1 && t->flow.x[i])
		part_forget(&t->e, X);
	switch (BPF_CLASS(s->code)) {
	case BPF_LD:
	case BPF_LDX:
		do_load(t, s);
		break;
	case BPF_ST:
	case BPF_STX:
		part_copy(&t->e, TMP, BPF_CLASS(s->code) == BPF_ST ? A : X);
		emit(&t->e, BPF_STX | BPF_MEM | BPF_DW, FP, TMP, slot(s->k), 0);
		break;
	case BPF_ALU:
		do_alu(&t->e, s);
		break;
	case BPF_JMP:
		if (chain_find(&t->chain, t->f, &t->flow, i)) {
			chain_emit(&t->e, &t->chain, &t->flow);
			next = t->chain.no;
		} else {
			do_jump(&t->e, s, next);
		}
		break;
	case BPF_RET:
		do_return(&t->e, s);
		break;
	default:
		do_misc(&t->e, s);
	}
	return next;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Sets A and X to 0 if they are read before they are written. Also sets the scratch memory in use
 * to 0: it is always written before it is read, but the verifier would distinguish paths by it. */
static void reset(struct translator *t)
{
	uint16_t used = 0;

	if (t->flow.a[0])
		emit_alu_k(&t->e, BPF_MOV, A, 0);
	if (t->flow.x[0])
		emit_alu_k(&t->e, BPF_MOV, X, 0);
	for (uint32_t i = 0; i < t->f->len; i++)
		if (t->f->code[i].code == BPF_ST || t->f->code[i].code == BPF_STX)
			used |= 1U << t->f->code[i].k;
	if (used)
		emit_alu(&t->e, BPF_MOV, TMP, Z);
	for (uint32_t word = 0; word < BPF_MEMWORDS; word++)
		if (used & 1U << word)
			emit(&t->e, BPF_STX | BPF_MEM | BPF_DW, FP, TMP, slot(word), 0);
}

/* Makes B and Z from an unknown length below 2^31 in Z. */
static void zeros(struct emitter *e)
{
	emit_alu(e, BPF_MOV, B, Z);
	emit_alu_k(e, BPF_RSH, B, 31);
	emit_alu_k(e, BPF_ARSH, Z, 31);
}

static void begin_xdp(struct emitter *e)
{
	emit(e, BPF_LDX | BPF_MEM | BPF_W, DATA, BPF_REG_1, offsetof(struct xdp_md, data), 0);
	emit(e, BPF_LDX | BPF_MEM | BPF_W, END, BPF_REG_1, offsetof(struct xdp_md, data_end), 0);
	emit_alu64(e, BPF_MOV, Z, END);
	emit_alu64(e, BPF_SUB, Z, DATA);
	zeros(e);
}

static void begin_skb(struct emitter *e)
{
	emit_alu64(e, BPF_MOV, CTX, BPF_REG_1);
	emit(e, BPF_LDX | BPF_MEM | BPF_W, Z, CTX, offsetof(struct __sk_buff, len), 0);
	zeros(e);
	part_copy(e, VLAN, BPF_REG_2);
	emit(e, BPF_STX | BPF_MEM | BPF_DW, FP, VLAN, VLAN_SLOT, 0);
	part_copy(e, TMP, VLAN);
	emit_alu_k(e, BPF_MOV, S, 4);
	emit_skip(e, BPF_JMP32 | BPF_JEQ | BPF_K, TMP, 0, 1);
	emit_alu_k(e, BPF_MOV, S, 0);
	part_forget(e, S);
	emit_alu_k(e, BPF_AND, S, 4);
	emit(e, BPF_STX | BPF_MEM | BPF_DW, FP, S, S_SLOT, 0);
	emit(e, BPF_LDX | BPF_MEM | BPF_W, DATA, CTX, offsetof(struct __sk_buff, data), 0);
	emit(e, BPF_LDX | BPF_MEM | BPF_W, END, CTX, offsetof(struct __sk_buff, data_end), 0);
	/* This is always jumped over. The verifier follows it first, and finishes the second
	 * translation before the first: its number of pending branches is limited. */
	emit_alu(e, BPF_MOV, TMP, Z);
	emit_alu_k(e, BPF_AND, TMP, 1);
	emit_skip(e, BPF_JMP32 | BPF_JEQ | BPF_K, TMP, 0, 1);
	emit_go(e, AGAIN);
}

/* The first of these is the one exit. Later ones in a long filter jump to the one before. */
static void done(struct translator *t)
{
	struct emitter *e = &t->e;
	int32_t here = e->len;

	emit_label(e, DONE);
	if (t->done < 0)
		emit(e, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	else
		emit_skip(e, BPF_JMP | BPF_JA, 0, 0, t->done - here - 1);
	e->too_far |= t->done >= 0 && here + 1 - t->done > -INT16_MIN;
	t->done = here;
}

/* Ends a filter, or starts its second translation. */
static void endings(struct translator *t)
{
	struct emitter *e = &t->e;

	if (e->wanted[NOT_THERE]) {
		/* A contiguous frame is readable to its end. */
		emit_label(e, NOT_THERE);
		emit_alu64(e, BPF_MOV, TMP, END);
		emit_alu64(e, BPF_SUB, TMP, DATA);
		emit(e, BPF_LDX | BPF_MEM | BPF_W, VLAN, CTX, offsetof(struct __sk_buff, len), 0);
		emit_jump(e, BPF_JMP | BPF_JLT | BPF_X, TMP, VLAN, 0, AGAIN);
	}
	if (e->wanted[NOT_THERE] || e->wanted[REFUSE]) {
		emit_label(e, REFUSE);
		emit_alu64_k(e, BPF_MOV, TMP, 0);
		e->wanted[DONE] = true;
	}
	if (e->wanted[DONE])
		done(t);
	emit_label(e, AGAIN);
	if (!e->no_memory)
		emit_resolve(e, LABEL_OWN);
	e->wanted[NOT_THERE] = e->wanted[REFUSE] = e->wanted[DONE] = false;
}

/* The same in the middle of a long filter, with relays for far jumps. */
static void endings_between(struct translator *t)
{
	struct emitter *e = &t->e;
	uint32_t over = e->len;
	bool falls_through = e->insns[over - 1].code != (BPF_JMP | BPF_JA);

	if (falls_through)
		emit(e, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	endings(t);
	if (e->wanted[AGAIN])
		emit_go(e, AGAIN);
	emit_relays(e);
	if (falls_through && !e->no_memory)
		e->insns[over].off = e->len - over - 1;
}

/* Translates the filter once. */
static void body(struct translator *t)
{
	uint32_t ended = t->e.len;

	reset(t);
	for (uint32_t i = 0; i < t->f->len && !t->e.no_memory;) {
		if (t->e.len - ended > ENDINGS_EVERY) {
			endings_between(t);
			ended = t->e.len;
		}
		/* The verifier refuses unreachable instructions. */
		i = t->flow.ways[i] ? instruction(t, i) : i + 1;
	}
	endings(t);
	if (!t->e.no_memory)
		emit_resolve(&t->e, 0);
}

int filter_translate(struct filter_bpf *b, const struct filter *f, enum filter_hook hook,
		     int16_t stack, char *why, size_t why_len)
{
	struct translator t = { .f = f, .hook = hook, .done = -1, .e.stack = stack };

	filter_flow(&t.flow, f);
	if (hook == FILTER_XDP)
		begin_xdp(&t.e);
	else
		begin_skb(&t.e);
	body(&t);
	if (hook == FILTER_SKB) {
		t.slow = true;
		t.e.wanted[AGAIN] = false;
		slow_begin(&t.e);
		body(&t);
	}
	free(t.e.fixups);
	*b = (struct filter_bpf){ t.e.insns, t.e.from, t.e.len };
	if (!t.e.no_memory && !t.e.too_far)
		return 0;
	filter_bpf_free(b);
	if (t.e.no_memory)
		snprintf(why, why_len, "no memory for a filter of %u instructions", f->len);
	else
		snprintf(why, why_len,
			 "one of the filter's %u instructions jumps too far for the "
			 "kernel's programs: make it shorter",
			 f->len);
	return t.e.no_memory ? -ENOMEM : -E2BIG;
}

void filter_bpf_free(struct filter_bpf *b)
{
	free(b->insns);
	free(b->from);
	memset(b, 0, sizeof(*b));
}
