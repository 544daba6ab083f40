// SPDX-License-Identifier: GPL-2.0
/* Flow, step: see flow_step.h. */
#include "flow_step.h"

#include "agent/programs/insn.h"

#define ATOMIC 0xc0 /* BPF_ATOMIC, Linux 5.12; before BPF_XADD */
#define MEMSX 0x80  /* BPF_MEMSX, Linux 6.6 */

static const char unknown[] = "it has an instruction that is not known here";
static const char followed[] = "it follows the address of a map";
static const char left[] = "it leaves an address where others can read it";
static const char made[] = "it makes data of an address";

/* ---- arithmetic ------------------------------------------------------------------------------ */

static struct flow_value operand(const struct flow_state *s, const struct bpf_insn *i)
{
	return BPF_SRC(i->code) == BPF_X ? s->registers[i->src_reg] : flow_number(i->imm);
}

/* An address that was moved by constants may be compared with 0, as it may be NULL. The verifier
 * may take such an address for data. Then a module could move it until the comparison is true, and
 * so find its value. This limit prevents it: all 1,000,000 instructions of the verifier together
 * move an address by less than 2^36, and with 39-bit addresses the kernel's memory is 2^38 or more
 * away from 0. An address that was moved by a register may not be compared. */
#define MOVE_MAX (1 << 16)

static const char *add(struct flow_value *to, const struct flow_value *by, bool back,
		       bool by_register)
{
	struct flow_value moved = flow_is_data(to) ? *by : *to;

	if (!flow_is_data(by) && (back || !flow_is_data(to)))
		return "it reckons with two addresses";
	if (flow_is_data(&moved)) {
		*to = flow_reckon(back ? BPF_SUB : BPF_ADD, true, to, by);
		return NULL;
	}
	if (!by_register && (by->number > MOVE_MAX || by->number < -MOVE_MAX))
		return "it moves an address by more than 64 KiB at once";
	flow_move(&moved, flow_is_data(to) ? to : by, back);
	moved.is_indexed |= by_register;
	/* If a value may also be data, the verifier may not know that it is an address: for it, a
	 * state with data in a slot covers any content (stacksafe(), kernel/bpf/verifier.c).
	 */
	if (moved.may & (FLOW_LOOSE | FLOW_DATA))
		moved.may |= FLOW_REST;
	*to = moved;
	return NULL;
}

static const char *move(struct flow_value *to, const struct flow_value *from, bool wide, bool sign)
{
	if (wide && !sign) {
		*to = *from;
		return NULL;
	}
	*to = sign ? flow_data() : flow_lower(from);
	return flow_is_data(from) ? NULL : made;
}

static const char *reckon(struct flow_state *s, const struct bpf_insn *i)
{
	struct flow_value *to = &s->registers[i->dst_reg], by = operand(s, i);
	bool wide = BPF_CLASS(i->code) == BPF_ALU64;
	uint8_t op = BPF_OP(i->code);
	bool turned = op == BPF_NEG || op == BPF_END;

	if (turned) /* here the source bit means something else */
		by = flow_data();
	if (op == BPF_MOV)
		return move(to, &by, wide, i->off);
	if (wide && (op == BPF_ADD || op == BPF_SUB))
		return add(to, &by, op == BPF_SUB, BPF_SRC(i->code) == BPF_X);
	if (!flow_is_data(to) || !flow_is_data(&by))
		return made;
	/* The verifier knows nothing about the result, not even that it fits in 32 bits. If this
	 * code knew more, its ranges of stack accesses would differ from the verifier's. */
	*to = turned || i->off ? flow_data() : flow_reckon(op, wide, to, &by);
	return NULL;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint32_t size_of(const struct bpf_insn *i)
{
	switch (BPF_SIZE(i->code)) {
	case BPF_B:
		return 1;
	case BPF_H:
		return 2;
	case BPF_W:
		return 4;
	default:
		return 8;
	}
}

static struct flow_value address_of(const struct flow_state *s, uint8_t reg, int16_t off)
{
	const struct flow_value by = flow_number(off);
	struct flow_value at = s->registers[reg];

	flow_move(&at, &by, false);
	return at;
}

static const char *load(struct flow_state *s, const struct bpf_insn *i)
{
	struct flow_value at = address_of(s, i->src_reg, i->off), found = { 0 };
	struct flow_value data = flow_bytes(size_of(i));
	const char *why = NULL;

	if (at.may & FLOW_MAP)
		return followed;
	if (at.may & FLOW_STACK)
		why = flow_stack_load(s, &at, size_of(i), &found);
	if (at.may & ~FLOW_STACK)
		flow_value_join(&found, &data);
	if (BPF_MODE(i->code) == MEMSX)
		found = flow_data(); /* below 8 bytes: no address */
	s->registers[i->dst_reg] = found;
	return why;
}

static const char *store(struct flow_state *s, const struct bpf_insn *i)
{
	struct flow_value at = address_of(s, i->dst_reg, i->off), value = flow_number(i->imm);
	bool sure = (at.may & ~FLOW_LOOSE) == FLOW_STACK;

	if (BPF_CLASS(i->code) == BPF_STX)
		value = s->registers[i->src_reg];
	if (at.may & FLOW_MAP)
		return followed;
	if (!flow_is_data(&value) && !sure)
		return left;
	return at.may & FLOW_STACK ? flow_stack_store(s, &at, size_of(i), &value, sure) : NULL;
}

static const char *atomic(struct flow_state *s, const struct bpf_insn *i)
{
	struct flow_value at = address_of(s, i->dst_reg, i->off), data = flow_data();
	struct flow_value *value = &s->registers[i->src_reg];
	const char *why = NULL;

	if (i->imm & ~(0xf0 | BPF_FETCH))
		return unknown;
	if (at.may & FLOW_MAP)
		return followed;
	if (!flow_is_data(value) ||
	    (i->imm == BPF_CMPXCHG && !flow_is_data(&s->registers[BPF_REG_0])))
		return left;
	if (at.may & FLOW_STACK)
		why = flow_stack_read(s, &at, size_of(i))
			      ?: flow_stack_store(s, &at, size_of(i), &data, false);
	if (i->imm == BPF_CMPXCHG)
		s->registers[BPF_REG_0] = data;
	else if (i->imm & BPF_FETCH)
		*value = data;
	return why;
}

/* ---- jumps ----------------------------------------------------------------------------------- */

/* A comparison with 0 is a check for NULL. */
static bool asks_for_null(const struct bpf_insn *i)
{
	uint8_t op = BPF_OP(i->code);

	return BPF_CLASS(i->code) == BPF_JMP && BPF_SRC(i->code) == BPF_K && !i->imm &&
	       (op == BPF_JEQ || op == BPF_JNE);
}

static const char *compare(const struct flow_state *s, const struct bpf_insn *i)
{
	const struct flow_value *v = &s->registers[i->dst_reg];
	struct flow_value with = operand(s, i);

	if (flow_is_data(v) && flow_is_data(&with))
		return NULL;
	/* An address moved by data is 0 if the guess was right. */
	if (asks_for_null(i) && !(v->may & FLOW_REST) && !v->is_indexed &&
	    !(v->may & FLOW_STACK && v->span == FLOW_UNKNOWN))
		return NULL;
	return "it compares an address";
}

/* Returns the comparison that holds on this path. 0: none that helps. */
static uint8_t holds(uint8_t op, bool taken)
{
	switch (op) {
	case BPF_JEQ:
		return taken ? BPF_JEQ : BPF_JNE;
	case BPF_JNE:
		return taken ? BPF_JNE : BPF_JEQ;
	case BPF_JLT:
		return taken ? BPF_JLT : 0;
	case BPF_JLE:
		return taken ? BPF_JLE : 0;
	case BPF_JGE:
		return taken ? 0 : BPF_JLT;
	case BPF_JGT:
		return taken ? 0 : BPF_JLE;
	default:
		return 0;
	}
}

void flow_branch(struct flow_state *s, const struct bpf_insn *i, bool taken)
{
	struct flow_value *v = &s->registers[i->dst_reg], with = operand(s, i);
	uint8_t op = holds(BPF_OP(i->code), taken);
	int32_t number;
	uint64_t n;

	if (asks_for_null(i) && op == BPF_JEQ) {
		*v = flow_number(0);
		return;
	}
	/* Of an address or NULL, the address remains. */
	if (asks_for_null(i) && op == BPF_JNE && v->may & FLOW_ADDRESS && !(v->may & FLOW_STACK) &&
	    !v->number && !v->span)
		v->may &= ~FLOW_DATA;
	if (v->may != FLOW_DATA || !flow_is_number(&with, &number) || number < 0 ||
	    number > FLOW_STACK_LEN || (BPF_CLASS(i->code) == BPF_JMP32 && !flow_most(v, &n)))
		return;
	if (op == BPF_JEQ)
		*v = flow_number(number);
	else if (op == BPF_JLE || (op == BPF_JLT && number))
		*v = flow_at_most(v, number - (op == BPF_JLT));
	else if (op == BPF_JNE && flow_most(v, &n) && n == (uint64_t)number && number)
		*v = flow_at_most(v, number - 1);
}

/* ---------------------------------------------------------------------------------------------- */

static const char *load_number(struct flow_state *s, const struct bpf_insn *i,
			       const struct flow_maps *maps)
{
	struct flow_value v = flow_data();

	if (i->src_reg == BPF_PSEUDO_MAP_VALUE)
		v.may = FLOW_MEMORY;
	else if (i->src_reg == BPF_PSEUDO_MAP_FD)
		v.may = FLOW_MAP;
	else if (i->src_reg)
		return "it takes an address that is not known here";
	for (size_t n = 0; v.may == FLOW_MAP && n < maps->count; n++)
		if (maps->all[n].fd == i->imm)
			v.maps = flow_map_bit(n);
	s->registers[i->dst_reg] = v;
	return v.may == FLOW_MAP && !v.maps ? "it takes a map that is not its own" : NULL;
}

static const char *jump(struct flow_state *s, const struct bpf_insn *i,
			const struct flow_maps *maps)
{
	if (i->code == (BPF_JMP | BPF_CALL))
		return flow_helper(s, i, maps);
	if (i->code == (BPF_JMP | BPF_JA) || i->code == (BPF_JMP32 | BPF_JA))
		return NULL;
	return BPF_OP(i->code) == BPF_JA || BPF_OP(i->code) == BPF_CALL ? unknown : compare(s, i);
}

const char *flow_step(struct flow_state *s, const struct bpf_insn *i, const struct flow_maps *maps)
{
	if (i->dst_reg >= FLOW_REGISTERS || i->src_reg >= FLOW_REGISTERS)
		return unknown;
	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		return reckon(s, i);
	case BPF_LD:
		return insn_is_wide(i) ? load_number(s, i, maps) : unknown;
	case BPF_LDX:
		return load(s, i);
	case BPF_ST:
		return store(s, i);
	case BPF_STX:
		return BPF_MODE(i->code) == ATOMIC ? atomic(s, i) : store(s, i);
	default:
		return jump(s, i, maps);
	}
}
