/* SPDX-License-Identifier: GPL-2.0 */
/*
 * links: agent/module/flow.o agent/module/flow_helper.o agent/module/flow_state.o
 * agent/module/flow_step.o agent/module/flow_value.o
 *
 * Where addresses go, and what is read of the stack: programs that are taken, that need zeros, and
 * that are refused, with the words that say why. What the verifier makes of such is
 * tests/bpf/test_flow.py.
 */
#include "unit.h"

#include "agent/module/flow.h"

#define I(code, dst, src, off, imm)                                                                \
	{                                                                                          \
		(code), (dst), (src), (off), (imm)                                                 \
	}
#define MOV(dst, src) I(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0)
#define MOV32(dst, src) I(BPF_ALU | BPF_MOV | BPF_X, dst, src, 0, 0)
#define SET(dst, imm) I(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm)
#define SET32(dst, imm) I(BPF_ALU | BPF_MOV | BPF_K, dst, 0, 0, imm)
#define ADD(dst, imm) I(BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, imm)
#define AND(dst, imm) I(BPF_ALU64 | BPF_AND | BPF_K, dst, 0, 0, imm)
#define ALU(op, dst, src) I(BPF_ALU64 | (op) | BPF_X, dst, src, 0, 0)
#define LOAD(size, dst, src, off) I(BPF_LDX | BPF_MEM | (size), dst, src, off, 0)
#define STORE(size, dst, off, src) I(BPF_STX | BPF_MEM | (size), dst, src, off, 0)
#define ZERO(size, dst, off) I(BPF_ST | BPF_MEM | (size), dst, 0, off, 0)
#define ATOMIC(op, dst, off, src) I(BPF_STX | BPF_ATOMIC | BPF_DW, dst, src, off, op)
#define MAP(dst, fd) I(BPF_LD | BPF_IMM | BPF_DW, dst, BPF_PSEUDO_MAP_FD, 0, fd), I(0, 0, 0, 0, 0)
#define HELPER(number) I(BPF_JMP | BPF_CALL, 0, 0, 0, number)
#define CALL(by) I(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, by)
#define IF(op, dst, imm, by) I(BPF_JMP | (op) | BPF_K, dst, 0, by, imm)
#define GOTO(by) I(BPF_JMP | BPF_JA, 0, 0, by, 0)
#define END SET(0, 0), I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

enum { ARRAY = 10, WIDE, QUEUE, BLOOM, RING, OTHER };
static const struct flow_map maps[] = {
	{ ARRAY, BPF_MAP_TYPE_ARRAY, 4, 8 },  { WIDE, BPF_MAP_TYPE_HASH, 8, 24 },
	{ QUEUE, BPF_MAP_TYPE_QUEUE, 0, 16 }, { BLOOM, BPF_MAP_TYPE_BLOOM_FILTER, 0, 16 },
	{ RING, BPF_MAP_TYPE_RINGBUF, 0, 0 }, { OTHER, BPF_MAP_TYPE_HASH, 4, 16 },
};

#define MOST 64
#define SLOT(at) (1ULL << (512 + (at)) / 8)
#define NONE 0
static const struct {
	const char *name;
	struct bpf_insn insns[MOST]; /* r1 is the address of memory */
	const char *why;	     /* NULL: it is taken */
	size_t function;	     /* where the function begins that needs zeros, */
	uint64_t slots;		     /* and where it does */
} programs[] = {
	{ "reads what it has written",
	  { ZERO(BPF_DW, 10, -8), LOAD(BPF_DW, 2, 10, -8), STORE(BPF_DW, 1, 0, 2), END },
	  NULL,
	  0,
	  NONE },
	{ "reads what it has not written",
	  { LOAD(BPF_DW, 2, 10, -8), STORE(BPF_DW, 1, 0, 2), END },
	  NULL,
	  0,
	  SLOT(-8) },
	{ "has written half of it",
	  { ZERO(BPF_W, 10, -8), LOAD(BPF_DW, 2, 10, -8), END },
	  NULL,
	  0,
	  SLOT(-8) },
	{ "has written both halves",
	  { ZERO(BPF_W, 10, -8), ZERO(BPF_W, 10, -4), LOAD(BPF_DW, 2, 10, -8), END },
	  NULL,
	  0,
	  NONE },
	{ "has written it on one way of two",
	  { LOAD(BPF_B, 2, 1, 0), IF(BPF_JEQ, 2, 5, 1), ZERO(BPF_DW, 10, -8),
	    LOAD(BPF_DW, 2, 10, -8), END },
	  NULL,
	  0,
	  SLOT(-8) },
	{ "has written it on both",
	  { LOAD(BPF_B, 2, 1, 0), IF(BPF_JEQ, 2, 5, 2), ZERO(BPF_DW, 10, -8), GOTO(1),
	    ZERO(BPF_DW, 10, -8), LOAD(BPF_DW, 2, 10, -8), END },
	  NULL,
	  0,
	  NONE },
	{ "writes it in a loop, after reading it",
	  { SET(3, 0), IF(BPF_JEQ, 3, 9, 4), LOAD(BPF_DW, 2, 10, -8), ZERO(BPF_DW, 10, -8),
	    ADD(3, 1), GOTO(-5), END },
	  NULL,
	  0,
	  SLOT(-8) },
	{ "says an address", { STORE(BPF_DW, 1, 0, 1), END }, "it leaves an address", 0, NONE },
	{ "says half of an address",
	  { STORE(BPF_DW, 10, -8, 1), LOAD(BPF_W, 2, 10, -8), END },
	  "it makes data of an address on its stack",
	  0,
	  NONE },
	{ "keeps an address on its stack",
	  { STORE(BPF_DW, 10, -8, 1), LOAD(BPF_DW, 2, 10, -8), LOAD(BPF_DW, 3, 2, 8),
	    STORE(BPF_DW, 1, 0, 3), END },
	  NULL,
	  0,
	  NONE },
	{ "says one that it has kept",
	  { STORE(BPF_DW, 10, -8, 1), LOAD(BPF_DW, 2, 10, -8), STORE(BPF_DW, 1, 0, 2), END },
	  "it leaves an address",
	  0,
	  NONE },
	{ "overwrites half of an address",
	  { STORE(BPF_DW, 10, -8, 1), ZERO(BPF_W, 10, -8), LOAD(BPF_W, 2, 10, -4), END },
	  "it makes data of an address on its stack",
	  0,
	  NONE },
	{ "overwrites half of an address, and reads the whole",
	  { STORE(BPF_DW, 10, -8, 1), ZERO(BPF_W, 10, -8), LOAD(BPF_DW, 2, 10, -8),
	    STORE(BPF_DW, 1, 0, 2), END },
	  "it leaves an address",
	  0,
	  NONE },
	{ "overwrites all of an address",
	  { STORE(BPF_DW, 10, -8, 1), ZERO(BPF_DW, 10, -8), LOAD(BPF_W, 2, 10, -4), END },
	  NULL,
	  0,
	  NONE },
	{ "stores half of an address",
	  { STORE(BPF_W, 10, -8, 1), END },
	  "it stores an address",
	  0,
	  NONE },
	{ "cuts an address", { MOV32(2, 1), END }, "it makes data of an address", 0, NONE },
	{ "says the low bits of an address",
	  { MOV(2, 1), AND(2, 7), END },
	  "it makes data of an address",
	  0,
	  NONE },
	{ "turns an address around",
	  { MOV(2, 1), I(BPF_ALU | BPF_END | BPF_X, 2, 0, 0, 64), END },
	  "it makes data of an address",
	  0,
	  NONE },
	{ "subtracts addresses",
	  { MOV(2, 10), ALU(BPF_SUB, 2, 1), END },
	  "it reckons with two",
	  0,
	  NONE },
	{ "subtracts an address from data",
	  { SET(2, 0), ALU(BPF_SUB, 2, 1), END },
	  "it reckons with two",
	  0,
	  NONE },
	{ "moves an address by data",
	  { LOAD(BPF_B, 2, 1, 0), ALU(BPF_ADD, 1, 2), LOAD(BPF_B, 3, 1, 0), END },
	  NULL,
	  0,
	  NONE },
	{ "moves data by an address, which is the same",
	  { LOAD(BPF_B, 2, 1, 0), ALU(BPF_ADD, 2, 1), STORE(BPF_DW, 1, 0, 2), END },
	  "it leaves an address",
	  0,
	  NONE },
	{ "compares an address", { IF(BPF_JGT, 1, 5, 0), END }, "it compares an address", 0, NONE },
	{ "compares addresses",
	  { I(BPF_JMP | BPF_JEQ | BPF_X, 1, 10, 0, 0), END },
	  "it compares an address",
	  0,
	  NONE },
	{ "asks for an address's low half",
	  { I(BPF_JMP32 | BPF_JEQ | BPF_K, 1, 0, 0, 0), END },
	  "it compares an address",
	  0,
	  NONE },
	{ "asks whether there is one, and says that there is none",
	  { IF(BPF_JNE, 1, 0, 1), STORE(BPF_DW, 10, -8, 1), IF(BPF_JNE, 1, 0, 2),
	    STORE(BPF_W, 10, -8, 1), LOAD(BPF_W, 2, 10, -8), END },
	  NULL,
	  0,
	  NONE },
	{ "adds an address up",
	  { ATOMIC(BPF_ADD, 1, 0, 10), END },
	  "it leaves an address",
	  0,
	  NONE },
	{ "exchanges an address",
	  { ATOMIC(BPF_XCHG, 1, 0, 10), END },
	  "it leaves an address",
	  0,
	  NONE },
	{ "compares an address in exchanging",
	  { MOV(0, 1), SET(2, 0), ATOMIC(BPF_CMPXCHG, 1, 0, 2), END },
	  "it leaves an address",
	  0,
	  NONE },
	{ "fetches an address from its stack",
	  { STORE(BPF_DW, 10, -8, 1), SET(2, 0), ATOMIC(BPF_ADD | BPF_FETCH, 10, -8, 2), END },
	  "it makes data of an address on its stack",
	  0,
	  NONE },
	{ "follows a map",
	  { MAP(2, ARRAY), LOAD(BPF_DW, 3, 2, 0), END },
	  "it follows the address",
	  0,
	  NONE },
	{ "follows a map or memory",
	  { LOAD(BPF_B, 2, 1, 0), IF(BPF_JEQ, 2, 5, 2), MAP(1, ARRAY), LOAD(BPF_DW, 3, 1, 0), END },
	  "it follows the address",
	  0,
	  NONE },
	{ "gives a map's address as a key",
	  { MAP(2, ARRAY), MAP(1, ARRAY), HELPER(BPF_FUNC_map_lookup_elem), END },
	  "it gives a helper the address of a map",
	  0,
	  NONE },
	{ "looks up what it has written",
	  { ZERO(BPF_W, 10, -4), MOV(2, 10), ADD(2, -4), MAP(1, ARRAY),
	    HELPER(BPF_FUNC_map_lookup_elem), IF(BPF_JEQ, 0, 0, 1), LOAD(BPF_DW, 1, 0, 0), END },
	  NULL,
	  0,
	  NONE },
	{ "looks up what is longer",
	  { ZERO(BPF_W, 10, -8), MOV(2, 10), ADD(2, -8), MAP(1, WIDE),
	    HELPER(BPF_FUNC_map_lookup_elem), END },
	  NULL,
	  0,
	  SLOT(-8) },
	{ "looks up in one of two, beside a third with longer keys",
	  { ZERO(BPF_W, 10, -4), LOAD(BPF_B, 2, 1, 0), MAP(1, ARRAY), IF(BPF_JEQ, 2, 5, 2),
	    MAP(1, OTHER), MOV(2, 10), ADD(2, -4), HELPER(BPF_FUNC_map_lookup_elem), END },
	  NULL,
	  0,
	  NONE },
	{ "looks up in one of two maps",
	  { ZERO(BPF_W, 10, -8), LOAD(BPF_B, 2, 1, 0), MAP(1, ARRAY), IF(BPF_JEQ, 2, 5, 2),
	    MAP(1, WIDE), MOV(2, 10), ADD(2, -8), HELPER(BPF_FUNC_map_lookup_elem), END },
	  NULL,
	  0,
	  SLOT(-8) },
	{ "keeps an address in a map",
	  { ZERO(BPF_W, 10, -4), STORE(BPF_DW, 10, -16, 1), MOV(2, 10), ADD(2, -4), MOV(3, 10),
	    ADD(3, -16), SET(4, 0), MAP(1, ARRAY), HELPER(BPF_FUNC_map_update_elem), END },
	  "it makes data of an address on its stack",
	  0,
	  NONE },
	{ "gives an address as flags",
	  { ZERO(BPF_W, 10, -4), ZERO(BPF_DW, 10, -16), MOV(4, 1), MOV(2, 10), ADD(2, -4),
	    MOV(3, 10), ADD(3, -16), MAP(1, ARRAY), HELPER(BPF_FUNC_map_update_elem), END },
	  "it gives an address to a helper",
	  0,
	  NONE },
	{ "says an address of a value",
	  { ZERO(BPF_W, 10, -4), MOV(6, 1), MOV(2, 10), ADD(2, -4), MAP(1, ARRAY),
	    HELPER(BPF_FUNC_map_lookup_elem), STORE(BPF_DW, 6, 0, 0), END },
	  "it leaves an address",
	  0,
	  NONE },
	{ "takes from a queue what it then reads",
	  { MOV(2, 10), ADD(2, -16), MAP(1, QUEUE), HELPER(BPF_FUNC_map_pop_elem),
	    LOAD(BPF_DW, 2, 10, -8), END },
	  NULL,
	  0,
	  SLOT(-8) },
	{ "takes from a queue, and reads beside it",
	  { MOV(2, 10), ADD(2, -24), MAP(1, QUEUE), HELPER(BPF_FUNC_map_pop_elem),
	    LOAD(BPF_DW, 2, 10, -8), END },
	  NULL,
	  0,
	  SLOT(-8) },
	{ "asks a filter for what it has not written",
	  { MOV(2, 10), ADD(2, -16), MAP(1, BLOOM), HELPER(BPF_FUNC_map_peek_elem), END },
	  NULL,
	  0,
	  SLOT(-16) | SLOT(-8) },
	{ "sends as much as it has written",
	  { ZERO(BPF_DW, 10, -16), ZERO(BPF_DW, 10, -8), MOV(2, 10), ADD(2, -16), SET32(3, 16),
	    SET(4, 0), MAP(1, RING), HELPER(BPF_FUNC_ringbuf_output), END },
	  NULL,
	  0,
	  NONE },
	{ "sends more",
	  { ZERO(BPF_DW, 10, -16), MOV(2, 10), ADD(2, -16), SET32(3, 9), SET(4, 0), MAP(1, RING),
	    HELPER(BPF_FUNC_ringbuf_output), END },
	  NULL,
	  0,
	  SLOT(-8) },
	{ "sends as much as data says",
	  { ZERO(BPF_DW, 10, -16), LOAD(BPF_B, 3, 1, 0), MOV(2, 10), ADD(2, -16), SET(4, 0),
	    MAP(1, RING), HELPER(BPF_FUNC_ringbuf_output), END },
	  NULL,
	  0,
	  SLOT(-8) },
	{ "sends one length of two",
	  { ZERO(BPF_DW, 10, -16), LOAD(BPF_B, 5, 1, 0), SET(3, 8), IF(BPF_JEQ, 5, 5, 1),
	    SET(3, 16), MOV(2, 10), ADD(2, -16), SET(4, 0), MAP(1, RING),
	    HELPER(BPF_FUNC_ringbuf_output), END },
	  NULL,
	  0,
	  SLOT(-8) },
	{ "calls what is no helper of a module's",
	  { HELPER(BPF_FUNC_trace_printk), END },
	  "it calls a helper that is not known",
	  0,
	  NONE },
	{ "indexes its stack by data",
	  { ZERO(BPF_DW, 10, -8), LOAD(BPF_DW, 2, 1, 0), MOV(3, 10), ADD(3, -8), ALU(BPF_ADD, 3, 2),
	    LOAD(BPF_B, 4, 3, 0), STORE(BPF_B, 1, 0, 4), END },
	  NULL,
	  0,
	  ~SLOT(-8) },
	{ "indexes it upwards by data",
	  { ZERO(BPF_DW, 10, -24), LOAD(BPF_W, 2, 1, 0), MOV(3, 10), ADD(3, -24),
	    ALU(BPF_ADD, 3, 2), LOAD(BPF_B, 4, 3, 0), END },
	  NULL,
	  0,
	  SLOT(-16) | SLOT(-8) },
	{ "indexes it by a few bits of data",
	  { ZERO(BPF_DW, 10, -16), STORE(BPF_DW, 10, -8, 1), LOAD(BPF_DW, 2, 1, 0), AND(2, 7),
	    MOV(3, 10), ADD(3, -16), ALU(BPF_ADD, 3, 2), LOAD(BPF_B, 4, 3, 0), END },
	  NULL,
	  0,
	  NONE },
	{ "indexes it by one bit too many, where an address is",
	  { ZERO(BPF_DW, 10, -16), STORE(BPF_DW, 10, -8, 1), LOAD(BPF_DW, 2, 1, 0), AND(2, 15),
	    MOV(3, 10), ADD(3, -16), ALU(BPF_ADD, 3, 2), LOAD(BPF_B, 4, 3, 0), END },
	  "it may make data of an address on its stack, by an index",
	  0,
	  NONE },
	{ "indexes words by data that it has compared",
	  { ZERO(BPF_DW, 10, -16), STORE(BPF_DW, 10, -8, 1), LOAD(BPF_DW, 2, 1, 0),
	    IF(BPF_JGT, 2, 1, 5), I(BPF_ALU64 | BPF_LSH | BPF_K, 2, 0, 0, 2), MOV(3, 10),
	    ADD(3, -16), ALU(BPF_ADD, 3, 2), LOAD(BPF_W, 4, 3, 0), END },
	  NULL,
	  0,
	  NONE },
	{ "indexes it by data less than nothing, where an address is",
	  { STORE(BPF_DW, 10, -24, 1), ZERO(BPF_DW, 10, -16), ZERO(BPF_DW, 10, -8),
	    LOAD(BPF_DW, 2, 1, 0), AND(2, 7), MOV(3, 10), ADD(3, -16), ALU(BPF_SUB, 3, 2),
	    LOAD(BPF_B, 4, 3, 0), END },
	  "it may make data of an address on its stack, by an index",
	  0,
	  NONE },
	{ "writes all in a loop, then reads it",
	  { STORE(BPF_DW, 10, -40, 1), SET(2, 0), MOV(3, 10), ADD(3, -32), ALU(BPF_ADD, 3, 2),
	    ZERO(BPF_B, 3, 0), ADD(2, 1), IF(BPF_JNE, 2, 32, -6), LOAD(BPF_DW, 4, 10, -32), END },
	  NULL,
	  0,
	  SLOT(-32) },
	{ "asks whether what a loop may have overwritten is there",
	  { STORE(BPF_DW, 10, -8, 1), LOAD(BPF_DW, 2, 1, 0), MOV(3, 10), ADD(3, -16), AND(2, 15),
	    ALU(BPF_ADD, 3, 2), ZERO(BPF_B, 3, 0), LOAD(BPF_DW, 4, 10, -8), IF(BPF_JEQ, 4, 0, 0),
	    END },
	  "it compares an address",
	  0,
	  NONE },
	{ "asks for a byte that is left of an address",
	  { STORE(BPF_DW, 10, -8, 1), ZERO(BPF_W, 10, -4), ZERO(BPF_H, 10, -6), ZERO(BPF_B, 10, -7),
	    LOAD(BPF_DW, 2, 10, -8), ADD(2, -48), IF(BPF_JEQ, 2, 0, 0), END },
	  "it compares an address",
	  0,
	  NONE },
	{ "indexes it by what it turned around, where an address is",
	  { STORE(BPF_DW, 10, -64, 1), ZERO(BPF_DW, 10, -72), LOAD(BPF_DW, 2, 1, 0),
	    I(BPF_ALU | BPF_END | BPF_X, 2, 0, 0, 64), I(BPF_ALU64 | BPF_RSH | BPF_K, 2, 0, 0, 32),
	    IF(BPF_JGT, 2, 8, 3), MOV(3, 10), ALU(BPF_ADD, 3, 2), LOAD(BPF_B, 4, 3, -72), END },
	  "it may make data of an address on its stack, by an index",
	  0,
	  NONE },
	{ "indexes it by what it shifted too far, where an address is",
	  { STORE(BPF_DW, 10, -64, 1), ZERO(BPF_DW, 10, -72), SET(3, 40), LOAD(BPF_W, 2, 1, 0),
	    I(BPF_ALU | BPF_RSH | BPF_X, 2, 3, 0, 0), IF(BPF_JGT, 2, 8, 3), MOV(3, 10),
	    ALU(BPF_ADD, 3, 2), LOAD(BPF_B, 4, 3, -72), END },
	  "it may make data of an address on its stack, by an index",
	  0,
	  NONE },
	{ "writes by an index of which the verifier knows less, and asks for an address beside it",
	  { STORE(BPF_DW, 10, -16, 1), LOAD(BPF_B, 2, 1, 0),
	    I(BPF_ALU64 | BPF_MOD | BPF_K, 2, 0, 0, 8), IF(BPF_JGT, 2, 15, 6), MOV(3, 10),
	    ALU(BPF_ADD, 3, 2), ZERO(BPF_B, 3, -24), LOAD(BPF_DW, 2, 10, -16), ADD(2, -4096),
	    IF(BPF_JEQ, 2, 0, 0), END },
	  "it compares an address",
	  0,
	  NONE },
	{ "reads an address by an index of which the verifier knows less",
	  { STORE(BPF_DW, 10, -16, 1), LOAD(BPF_B, 2, 1, 0),
	    I(BPF_ALU64 | BPF_DIV | BPF_K, 2, 0, 0, 256), AND(2, 8), MOV(3, 10), ADD(3, -16),
	    ALU(BPF_ADD, 3, 2), LOAD(BPF_DW, 2, 3, 0), ADD(2, -4096), IF(BPF_JEQ, 2, 0, 0), END },
	  "it makes data of an address on its stack",
	  0,
	  NONE },
	{ "asks for what is an address on one way, and data on the other",
	  { LOAD(BPF_DW, 6, 1, 8), LOAD(BPF_B, 2, 1, 0), IF(BPF_JEQ, 2, 5, 3), ZERO(BPF_W, 10, -8),
	    ZERO(BPF_W, 10, -4), GOTO(1), STORE(BPF_DW, 10, -8, 1), LOAD(BPF_DW, 2, 10, -8),
	    ALU(BPF_SUB, 2, 6), IF(BPF_JEQ, 2, 0, 0), END },
	  "it compares an address",
	  0,
	  NONE },
	{ "asks for an address beside what a helper read",
	  { STORE(BPF_DW, 10, -16, 1), ZERO(BPF_W, 10, -4), MOV(2, 10), ADD(2, -4), MAP(1, ARRAY),
	    HELPER(BPF_FUNC_map_lookup_elem), LOAD(BPF_DW, 2, 10, -16), ADD(2, -4096),
	    IF(BPF_JEQ, 2, 0, 0), END },
	  "it compares an address",
	  0,
	  NONE },
	{ "goes on with an address beside what a helper read",
	  { STORE(BPF_DW, 10, -16, 1), ZERO(BPF_W, 10, -4), MOV(2, 10), ADD(2, -4), MAP(1, ARRAY),
	    HELPER(BPF_FUNC_map_lookup_elem), LOAD(BPF_DW, 2, 10, -16), IF(BPF_JEQ, 2, 0, 2),
	    ADD(2, 8), LOAD(BPF_DW, 3, 2, 0), END },
	  NULL,
	  0,
	  NONE },
	{ "saves a register over a call, and has a helper read it there",
	  { SET(1, 7), STORE(BPF_DW, 10, -16, 1), HELPER(BPF_FUNC_get_smp_processor_id),
	    LOAD(BPF_DW, 1, 10, -16), ZERO(BPF_W, 10, -4), MOV(2, 10), ADD(2, -4), MOV(3, 10),
	    ADD(3, -16), SET(4, 0), MAP(1, ARRAY), HELPER(BPF_FUNC_map_update_elem), END },
	  NULL,
	  0,
	  SLOT(-16) },
	{ "saves two over a call",
	  { SET(1, 7), SET(2, 8), STORE(BPF_DW, 10, -24, 2), STORE(BPF_DW, 10, -16, 1),
	    HELPER(BPF_FUNC_get_smp_processor_id), LOAD(BPF_DW, 1, 10, -16),
	    LOAD(BPF_DW, 2, 10, -24), END },
	  NULL,
	  0,
	  SLOT(-16) | SLOT(-24) },
	{ "moves its stack's address by a guess, and asks whether that was right",
	  { LOAD(BPF_DW, 2, 1, 0), I(BPF_ALU64 | BPF_RSH | BPF_K, 2, 0, 0, 1), MOV(3, 10),
	    ALU(BPF_ADD, 3, 2), IF(BPF_JEQ, 3, 0, 0), END },
	  "it compares an address",
	  0,
	  NONE },
	{ "goes through memory in a loop",
	  { SET(2, 0), LOAD(BPF_B, 3, 1, 0), ADD(1, 1), ADD(2, 1), IF(BPF_JNE, 2, 200, -4), END },
	  NULL,
	  0,
	  NONE },
	{ "goes back and forth in memory",
	  { MOV(6, 1), SET(2, 0), ADD(1, 8), ADD(2, 1), LOAD(BPF_B, 3, 1, 0), IF(BPF_JEQ, 3, 5, -4),
	    MOV(1, 6), IF(BPF_JNE, 2, 100, -6), END },
	  NULL,
	  0,
	  NONE },
	{ "asks for a record that it gave back",
	  { MAP(1, RING), SET(2, 8), SET(3, 0), HELPER(BPF_FUNC_ringbuf_reserve), MOV(6, 0),
	    MOV(1, 0), SET(2, 0), HELPER(BPF_FUNC_ringbuf_discard), ADD(6, -4096),
	    IF(BPF_JEQ, 6, 0, 0), END },
	  "it compares an address",
	  0,
	  NONE },
	{ "fills a record, if there is one",
	  { MAP(1, RING), SET(2, 8), SET(3, 0), HELPER(BPF_FUNC_ringbuf_reserve),
	    IF(BPF_JEQ, 0, 0, 4), ZERO(BPF_DW, 0, 0), MOV(1, 0), SET(2, 0),
	    HELPER(BPF_FUNC_ringbuf_submit), END },
	  NULL,
	  0,
	  NONE },
	{ "indexes its stack by data, where an address is",
	  { STORE(BPF_DW, 10, -16, 1), LOAD(BPF_DW, 2, 1, 0), MOV(3, 10), ADD(3, -8),
	    ALU(BPF_ADD, 3, 2), LOAD(BPF_B, 4, 3, 0), END },
	  "it may make data of an address on its stack, by an index",
	  0,
	  NONE },
	{ "keeps an address where data says",
	  { LOAD(BPF_B, 2, 1, 0), MOV(3, 10), ADD(3, -64), ALU(BPF_ADD, 3, 2),
	    STORE(BPF_DW, 3, 0, 1), END },
	  "it stores an address",
	  0,
	  NONE },
	{ "has what it calls write its stack",
	  { MOV(1, 10), ADD(1, -8), CALL(3), LOAD(BPF_DW, 2, 10, -8), END, ZERO(BPF_DW, 1, 0),
	    END },
	  NULL,
	  0,
	  NONE },
	{ "has what it calls read its stack",
	  { MOV(1, 10), ADD(1, -8), CALL(2), END, LOAD(BPF_DW, 2, 1, 0), END },
	  NULL,
	  0,
	  SLOT(-8) },
	{ "calls what reads its own stack",
	  { CALL(2), END, LOAD(BPF_DW, 2, 10, -8), END },
	  NULL,
	  3,
	  SLOT(-8) },
	{ "finds nothing of one call in the next",
	  { SET(1, 1), CALL(4), SET(1, 0), CALL(2), END, IF(BPF_JEQ, 1, 0, 2), ZERO(BPF_DW, 10, -8),
	    GOTO(1), LOAD(BPF_DW, 2, 10, -8), END },
	  NULL,
	  6,
	  SLOT(-8) },
	{ "calls what says an address",
	  { MOV(2, 10), CALL(2), END, STORE(BPF_DW, 1, 0, 2), END },
	  "it leaves an address where others can read it (instruction 0 of a function",
	  0,
	  NONE },
	{ "keeps an address over a call",
	  { MOV(6, 1), CALL(3), LOAD(BPF_DW, 2, 6, 0), END, END },
	  NULL,
	  0,
	  NONE },
	{ "returns an address",
	  { MOV(0, 1), I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0) },
	  "it returns",
	  0,
	  NONE },
	{ "moves what is 0 on one way far, and asks whether it is 0 then",
	  { STORE(BPF_DW, 10, -256, 1), IF(BPF_JEQ, 0, 5, 1), ZERO(BPF_DW, 10, -256),
	    LOAD(BPF_DW, 3, 10, -256), IF(BPF_JEQ, 3, 0, 2), ADD(3, 0x7fffffff),
	    IF(BPF_JNE, 3, 0, 0), END },
	  "compares an address",
	  0,
	  NONE },
	{ "reads at what is 0 on one way",
	  { STORE(BPF_DW, 10, -256, 1), IF(BPF_JEQ, 0, 5, 1), ZERO(BPF_DW, 10, -256),
	    LOAD(BPF_DW, 3, 10, -256), IF(BPF_JEQ, 3, 0, 1), LOAD(BPF_DW, 2, 3, 16), END },
	  NULL,
	  0,
	  NONE },
	{ "calls itself", { CALL(-1), END }, "too deep", 0, NONE },
	{ "never ends", { GOTO(-1), END }, "it never ends", 0, NONE },
	{ "jumps out", { GOTO(100), END }, "it jumps out", 0, NONE },
	{ "runs out", { SET(0, 0) }, "it runs out", 0, NONE },
	{ "jumps where a register says",
	  { I(BPF_JMP | BPF_JA | BPF_X, 1, 0, 0, 0), END },
	  "not known here",
	  0,
	  NONE },
	{ "has a register that is none", { SET(11, 0), END }, "not known here", 0, NONE },
};
#define PROGRAMS (sizeof(programs) / sizeof(programs[0]))

static size_t length(const struct bpf_insn *insns)
{
	static const struct bpf_insn none;
	size_t n = MOST;

	while (n && !memcmp(&insns[n - 1], &none, sizeof(none)))
		n--;
	return n;
}

static void test_programs(void **state)
{
	struct flow_maps all = { maps, sizeof(maps) / sizeof(maps[0]) };

	(void)state;
	for (size_t p = 0; p < PROGRAMS; p++) {
		size_t count = length(programs[p].insns);
		struct bpf_insn *insns = malloc(count * sizeof(*insns));
		uint64_t zeros[MOST] = { 0 };
		char why[FLOW_WHY_LEN] = "";
		int err;

		print_message("%s\n", programs[p].name);
		memcpy(insns, programs[p].insns, count * sizeof(*insns));
		err = flow_check(insns, count, 0, &all, zeros, why);
		free(insns);
		if (programs[p].why) {
			assert_int_equal(err, -EPERM);
			assert_non_null(strstr(why, programs[p].why));
			continue;
		}
		assert_string_equal(why, "");
		assert_int_equal(err, 0);
		for (size_t n = 0; n < MOST; n++)
			assert_int_equal(zeros[n],
					 n == programs[p].function ? programs[p].slots : 0);
	}
}

/* Each function calls the next 200 times: 200^7 ways. */
static void test_calls_take_time(void **state)
{
	struct flow_maps none = { NULL, 0 };
	struct bpf_insn insns[7 * 202 + 2];
	uint64_t zeros[sizeof(insns) / sizeof(insns[0])];
	char why[FLOW_WHY_LEN];
	size_t n = 0;

	(void)state;
	memset(zeros, 0, sizeof(zeros));
	for (int depth = 0; depth < 7; depth++) {
		for (int i = 0; i < 200; i++) {
			insns[n] = (struct bpf_insn)CALL((depth + 1) * 202 - (int)n - 1);
			n++;
		}
		insns[n++] = (struct bpf_insn)SET(0, 0);
		insns[n++] = (struct bpf_insn)I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	}
	insns[n++] = (struct bpf_insn)SET(0, 0);
	insns[n++] = (struct bpf_insn)I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	assert_int_equal(flow_check(insns, n, 0, &none, zeros, why), -EPERM);
	assert_non_null(strstr(why, "too many ways"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_calls_take_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
