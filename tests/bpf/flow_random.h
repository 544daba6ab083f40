/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs made at random, for flow_kernel: functions that move addresses about, keep them on the
 * stack, reckon with them, index the stack by data and call helpers. Most verifiers refuse most of
 * them; some leak addresses or read stack that was not written.
 */
#ifndef TESTS_BPF_FLOW_RANDOM_H
#define TESTS_BPF_FLOW_RANDOM_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

#define INSNS_MAX 512
#define SAVED -48 /* of the stack, where a register is saved */
#define STACK 32  /* bytes of it that are used: few, so that they are met again */
#define VALUE 32  /* bytes of the array's value, */
#define QUEUED 16 /* and of the queue's */

struct program {
	struct bpf_insn insns[INSNS_MAX];
	size_t count;
};

enum { ARRAY, QUEUE, RING, MAPS };

/* A number below `below`, from what was seeded. */
uint32_t chance(uint32_t below);
#define ONE_OF(...)                                                                                \
	((const int[]){ __VA_ARGS__ }[chance(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int))])

void random_seed(uint64_t seed);
/* One more program, of descriptors of maps. */
void random_program(struct program *p, const int maps[MAPS]);

/* ---- parts of programs: flow_random.c, and flow_calls.c for calls ------------------------------
 */

void put(struct program *p, uint8_t code, uint8_t dst, uint8_t src, int16_t off, int32_t imm);
void put_map(struct program *p, uint8_t reg, int which);
void put_call(struct program *p, int helper);
/* An address, mostly of the stack. */
void put_stack(struct program *p, uint8_t reg);
/* A register, rather one that is an address: 6 and 7 are values of a map, 10 the stack. */
uint8_t any(void);
/* One that may be written. */
uint8_t own(void);
/* A number from data, with an end by one way or another. */
void make_index(struct program *p, uint8_t reg);
void make_call(struct program *p);
void make_record(struct program *p);

#endif
