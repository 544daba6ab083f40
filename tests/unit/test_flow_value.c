/* SPDX-License-Identifier: GPL-2.0 */
/*
 * links: agent/module/flow_helper.o agent/module/flow_state.o agent/module/flow_step.o
 * agent/module/flow_value.o
 *
 * Ranges, with random values and a number in each. An instruction's result for the numbers must be
 * in flow_step()'s range, and a number that takes a branch must be in flow_branch()'s range there.
 */
#include "unit.h"

#include "agent/module/flow_step.h"

#define ROUNDS 3000000
#define OP(code) ((code)&0xf0)

/* ---- random numbers -------------------------------------------------------------------------- */

static uint64_t seed = 1;

static uint32_t chance(uint32_t below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % below;
}

/* Numbers at the limits that programs compute with. */
static int32_t any_number(void)
{
	switch (chance(7)) {
	case 0:
		return chance(64);
	case 1:
		return chance(600);
	case 2:
		return -(int32_t)chance(600);
	case 3:
		return (int32_t)(chance(1U << 31) << 1);
	case 4:
		return 65530 + chance(12);
	case 5:
		return chance(2) ? INT32_MAX : INT32_MIN;
	default:
		return 1 << chance(31);
	}
}

static struct flow_value any_value(void)
{
	struct flow_value v;

	switch (chance(5)) {
	case 0:
		return flow_data();
	case 1:
		return flow_number(any_number());
	case 2:
		return flow_below(chance(700));
	case 3:
		return flow_below(chance(3) ? UINT32_MAX : UINT16_MAX);
	default:
		v = flow_number(chance(2) ? any_number() : (int32_t)chance(600) - 300);
		v.span = chance(4) ? chance(FLOW_STACK_LEN + 1) : FLOW_FAR;
		return v;
	}
}

static int64_t last_of(const struct flow_value *v)
{
	return v->span == FLOW_FAR ? UINT32_MAX : (int64_t)v->number + v->span;
}

static bool is_in(const struct flow_value *v, uint64_t n)
{
	return v->may == FLOW_DATA &&
	       (v->span == FLOW_UNKNOWN || ((int64_t)n >= v->number && (int64_t)n <= last_of(v)));
}

static uint64_t any_in(const struct flow_value *v)
{
	uint64_t n = (uint64_t)chance(1U << 31) << 33 ^ (uint64_t)chance(1U << 31) << 11;

	if (v->span == FLOW_UNKNOWN)
		return chance(2) ? n : (uint64_t)any_number();
	if (chance(2))
		return chance(2) ? (uint64_t)v->number : (uint64_t)last_of(v);
	return v->number + n % (last_of(v) - v->number + 1);
}

/* ---- arithmetic of the machine (RFC 9669) ---------------------------------------------------- */

static uint64_t divided(uint64_t a, uint64_t b, bool is_signed)
{
	if (!b)
		return 0;
	if (is_signed)
		return b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b);
	return a / b;
}

static uint64_t rest(uint64_t a, uint64_t b, bool is_signed)
{
	if (!b)
		return a;
	if (is_signed)
		return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
	return a % b;
}

static uint64_t moved(uint64_t b, int bits)
{
	return bits ? (uint64_t)((int64_t)(b << (64 - bits)) >> (64 - bits)) : b;
}

static uint64_t turned(uint64_t a, bool turn, int bits)
{
	if (turn)
		a = __builtin_bswap64(a) >> (64 - bits);
	return bits < 64 ? a & ((1ULL << bits) - 1) : a;
}

static uint64_t reckon(const struct bpf_insn *i, uint64_t a, uint64_t b)
{
	bool wide = BPF_CLASS(i->code) == BPF_ALU64;
	int mask = wide ? 63 : 31;
	uint64_t low_a = wide ? a : (uint32_t)a, low_b = wide ? b : (uint32_t)b, n = 0;

	if (!wide && i->off && OP(i->code) != BPF_MOV) {
		low_a = (int64_t)(int32_t)a;
		low_b = (int64_t)(int32_t)b;
	}
	switch (OP(i->code)) {
	case BPF_ADD:
		n = a + b;
		break;
	case BPF_SUB:
		n = a - b;
		break;
	case BPF_MUL:
		n = a * b;
		break;
	case BPF_DIV:
		n = divided(low_a, low_b, i->off);
		break;
	case BPF_MOD:
		n = rest(low_a, low_b, i->off);
		break;
	case BPF_OR:
		n = a | b;
		break;
	case BPF_AND:
		n = a & b;
		break;
	case BPF_XOR:
		n = a ^ b;
		break;
	case BPF_LSH:
		n = a << (b & mask);
		break;
	case BPF_RSH:
		n = low_a >> (b & mask);
		break;
	case BPF_ARSH:
		n = wide ? (int64_t)a >> (b & mask) : (int32_t)a >> (b & mask);
		break;
	case BPF_NEG:
		n = -a;
		break;
	case BPF_MOV:
		n = moved(b, i->off);
		break;
	case BPF_END:
		return turned(a, wide || i->code & BPF_X, i->imm);
	}
	return wide ? n : (uint32_t)n;
}

static bool jumps(const struct bpf_insn *i, uint64_t a, uint64_t b)
{
	bool wide = BPF_CLASS(i->code) == BPF_JMP;
	int64_t x = wide ? (int64_t)a : (int32_t)a, y = wide ? (int64_t)b : (int32_t)b;

	a = wide ? a : (uint32_t)a;
	b = wide ? b : (uint32_t)b;
	switch (OP(i->code)) {
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JSET:
		return a & b;
	case BPF_JSGT:
		return x > y;
	case BPF_JSGE:
		return x >= y;
	case BPF_JSLT:
		return x < y;
	default:
		return x <= y;
	}
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* An instruction on register 1, with register 2 or an immediate. */
static struct bpf_insn any_insn(const uint8_t *ops, size_t count, uint8_t class)
{
	struct bpf_insn i = { .code = ops[chance(count)] | class, .dst_reg = 1 };

	if (chance(2)) {
		i.code |= BPF_X;
		i.src_reg = 2;
	} else {
		i.imm = any_number();
	}
	return i;
}

static struct bpf_insn any_reckoning(void)
{
	static const uint8_t ops[] = { BPF_ADD, BPF_SUB, BPF_MUL,  BPF_DIV, BPF_OR,
				       BPF_AND, BPF_LSH, BPF_RSH,  BPF_NEG, BPF_MOD,
				       BPF_XOR, BPF_MOV, BPF_ARSH, BPF_END };
	struct bpf_insn i = any_insn(ops, sizeof(ops), chance(2) ? BPF_ALU64 : BPF_ALU);
	uint8_t op = OP(i.code);
	bool wide = BPF_CLASS(i.code) == BPF_ALU64;

	if (op == BPF_END) {
		i.src_reg = 0;
		i.imm = 16 << chance(3);
	} else if (op == BPF_DIV || op == BPF_MOD) {
		i.off = chance(3) == 0;
		i.imm = i.imm ?: 1;
	} else if (op == BPF_MOV && i.src_reg && chance(2)) {
		i.off = wide ? 8 << chance(3) : 8 << chance(2);
	} else if (!i.src_reg && (op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH)) {
		i.imm &= wide ? 63 : 31;
	}
	return i;
}

static uint64_t operand(const struct bpf_insn *i, uint64_t b)
{
	return i->src_reg ? b : (uint64_t)(int64_t)i->imm;
}

static void say(const struct bpf_insn *i, const struct flow_value *was, uint64_t n,
		const struct flow_value *is, uint64_t result)
{
	print_message("code %02x off %d imm %d: %#lx of %d + %u, %#lx not in %d + %u\n", i->code,
		      i->off, i->imm, n, was->number, was->span, result, is->number, is->span);
}

static void test_reckoning(void **state)
{
	const struct flow_maps none = { NULL, 0 };
	struct flow_state s = { .frame = 0 };

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct flow_value a = any_value(), b = any_value();
		uint64_t in_a = any_in(&a), in_b = any_in(&b), result;
		struct bpf_insn i = any_reckoning();

		s.registers[1] = a;
		s.registers[2] = b;
		result = reckon(&i, in_a, operand(&i, in_b));
		assert_null(flow_step(&s, &i, &none));
		if (!is_in(&s.registers[1], result))
			say(&i, &a, in_a, &s.registers[1], result);
		assert_true(is_in(&s.registers[1], result));
	}
}

static void test_branches(void **state)
{
	static const uint8_t ops[] = { BPF_JEQ,	 BPF_JNE,  BPF_JGT,  BPF_JGE,  BPF_JLT, BPF_JLE,
				       BPF_JSET, BPF_JSGT, BPF_JSGE, BPF_JSLT, BPF_JSLE };
	struct flow_state s = { .frame = 0 };

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct flow_value a = any_value(), b = any_value();
		uint64_t in_a = any_in(&a), in_b = any_in(&b);
		struct bpf_insn i = any_insn(ops, sizeof(ops), chance(2) ? BPF_JMP : BPF_JMP32);

		if (!i.src_reg && chance(2)) /* at its ends */
			i.imm = (int32_t)((uint32_t)in_a + chance(3) - 1);
		s.registers[1] = a;
		s.registers[2] = b;
		flow_branch(&s, &i, jumps(&i, in_a, operand(&i, in_b)));
		if (!is_in(&s.registers[1], in_a))
			say(&i, &a, in_a, &s.registers[1], in_a);
		assert_true(is_in(&s.registers[1], in_a));
	}
}

/* The join contains both, and further joins reach a fixed point. */
static void test_joins(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct flow_value a = any_value(), b = any_value(), joined = a;
		uint64_t in_a = any_in(&a), in_b = any_in(&b);
		int turns = 0;

		flow_value_join(&joined, &b);
		assert_true(is_in(&joined, in_a) && is_in(&joined, in_b));
		while (flow_value_join(&joined, &a) | flow_value_join(&joined, &b))
			assert_true(++turns < 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reckoning),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_joins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
