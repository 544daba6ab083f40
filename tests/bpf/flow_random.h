/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random programs for flow_kernel: functions that move addresses, keep them on the stack, compute
 * with them, index the stack by data and call helpers. Most verifiers refuse most of them; some
 * leak addresses or read unwritten stack.
 */
#ifndef TESTS_BPF_FLOW_RANDOM_H
#define TESTS_BPF_FLOW_RANDOM_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#define INSNS_MAX 512
#define SAVED -48 /* offset on the stack where a register is saved */
#define STACK 32  /* bytes of the stack in use: few, to be used again */
#define VALUE 32  /* bytes of the array's value, */
#define QUEUED 16 /* and of the queue's */

struct program {
	struct bpf_insn insns[INSNS_MAX];
	size_t count;
};

enum { ARRAY, QUEUE, RING, MAPS };

/* Returns a number below `below`, from the seeded generator. */
uint32_t chance(uint32_t below);
#define ONE_OF(...)                                                                                \
	((const int[]){ __VA_ARGS__ }[chance(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int))])

void random_seed(uint64_t seed);
/* Makes one more program, with these map descriptors. */
void random_program(struct program *p, const int maps[MAPS]);

/* ---- parts of programs: flow_random.c, and flow_calls.c for calls ------------------------------
 */

void put(struct program *p, uint8_t code, uint8_t dst, uint8_t src, int16_t off, int32_t imm);
void put_map(struct program *p, uint8_t reg, int which);
void put_call(struct program *p, int helper);
/* Puts an address into a register, mostly one of the stack. */
void put_stack(struct program *p, uint8_t reg);
/* Returns a register, preferably one with an address: 6 and 7 are map values, 10 is the stack. */
uint8_t any(void);
/* Returns a register that may be written. */
uint8_t own(void);
/* Makes a number from data, bounded in one way or another. */
void make_index(struct program *p, uint8_t reg);
void make_call(struct program *p);
void make_record(struct program *p);

#endif
