// SPDX-License-Identifier: GPL-2.0
/*
 * Holds agent/module/flow.c against the kernel's verifier, on programs made at random: what the one
 * takes, the verifier takes of who lacks CAP_PERFMON, too, but for what it refuses for the sake of
 * speculation, or of stack that is not written. Then it gets its zeros (agent/module/zeros.c) and
 * is run, twice alike but for what others have left on the stack: it must not see that.
 *
 *     flow_kernel SEED COUNT
 *
 * Out: {"programs": COUNT, "run": those that root may load, "taken": of these by flow.c, "zeros":
 * of these with stack to be zeroed, "leaking": refused by both, "strict": refused by
 * flow.c alone, "unloaded": with zeros refused by the verifier}. Exits with 1 at the first that
 * flow.c takes and should not, and prints it.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/module/flow.h"
#include "agent/module/zeros.h"

#define BODY 14 /* instructions that are made up, at most, of each function */
#define INSNS_MAX 512
#define VALUE 32  /* bytes of the array's value, */
#define QUEUED 16 /* and of the queue's */
#define SAVED -48 /* where a register is saved */
#define STACK 32  /* bytes of it that are used: few, so that they are met again */

static struct flow_map maps[3]; /* array, queue, ring */
enum { ARRAY, QUEUE, RING };

struct program {
	struct bpf_insn insns[INSNS_MAX];
	size_t count;
};

/* ---- chance ---------------------------------------------------------------------------------- */

static uint64_t seed;

static uint32_t chance(uint32_t below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % below;
}

#define ONE_OF(...)                                                                                \
	((const int[]){ __VA_ARGS__ }[chance(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int))])

/* ---- instructions ---------------------------------------------------------------------------- */

static void put(struct program *p, uint8_t code, uint8_t dst, uint8_t src, int16_t off, int32_t imm)
{
	p->insns[p->count++] = (struct bpf_insn){ code, dst, src, off, imm };
}

static void put_map(struct program *p, uint8_t reg, int which)
{
	put(p, BPF_LD | BPF_IMM | BPF_DW, reg, BPF_PSEUDO_MAP_FD, 0, maps[which].fd);
	put(p, 0, 0, 0, 0, 0);
}

static void put_call(struct program *p, int helper)
{
	put(p, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

/* A register, rather one that is an address: 6 and 7 are values of a map, 10 the stack. */
static uint8_t any(void)
{
	return ONE_OF(0, 1, 2, 3, 6, 6, 7, 8, 8, 9, 9, 10);
}

static uint8_t own(void)
{
	return ONE_OF(0, 1, 2, 3, 8, 8, 9, 9);
}

static int size(void)
{
	return ONE_OF(BPF_DW, BPF_DW, BPF_DW, BPF_W, BPF_H, BPF_B);
}

/* Within the stack, or from a value's beginning. */
static int16_t offset(uint8_t reg, int size_code)
{
	int step = size_code == BPF_DW ? 8 : size_code == BPF_W ? 4 : size_code == BPF_H ? 2 : 1;

	return reg == 10 ? -STACK + (int)chance(STACK / step) * step : (int)chance(4) * 8;
}

/* Says what is there. */
static void make_said(struct program *p, uint8_t from, int16_t at, int s)
{
	put(p, BPF_LDX | BPF_MEM | s, 1, from, at, 0);
	put(p, BPF_STX | BPF_MEM | s, 6, 1, offset(6, s), 0);
}

static void make_memory(struct program *p)
{
	uint8_t reg = ONE_OF(6, 7, 8, 9, 10, 10, 10, 10, 10);
	int s = size();

	switch (chance(6)) {
	case 0:
	case 1:
		put(p, BPF_LDX | BPF_MEM | s, own(), reg, offset(reg, s), 0);
		break;
	case 4:
		make_said(p, reg, offset(reg, s), s);
		break;
	case 2:
	case 3:
		put(p, BPF_STX | BPF_MEM | s, reg, any(), offset(reg, s), 0);
		break;
	default:
		put(p, BPF_ST | BPF_MEM | s, reg, 0, offset(reg, s), chance(16));
	}
}

static void make_atomic(struct program *p)
{
	uint8_t reg = ONE_OF(6, 7, 9, 10, 10);
	int s = ONE_OF(BPF_DW, BPF_DW, BPF_W);

	put(p, BPF_STX | BPF_ATOMIC | s, reg, any(), offset(reg, s),
	    ONE_OF(BPF_ADD, BPF_ADD | BPF_FETCH, BPF_XCHG, BPF_CMPXCHG, BPF_OR));
}

static void make_arithmetic(struct program *p)
{
	int op = ONE_OF(BPF_ADD, BPF_ADD, BPF_SUB, BPF_AND, BPF_XOR, BPF_MUL, BPF_LSH);

	switch (chance(6)) {
	case 0:
		put(p, BPF_ALU64 | BPF_MOV | BPF_X, own(), any(), 0, 0);
		break;
	case 1:
		put(p, ONE_OF(BPF_ALU64, BPF_ALU) | BPF_MOV | BPF_K, own(), 0, 0, chance(24));
		break;
	case 2:
		put(p, BPF_ALU | BPF_MOV | BPF_X, own(), any(), 0, 0);
		break;
	case 3:
		put(p, BPF_ALU64 | BPF_ADD | BPF_K, own(), 0, 0, ONE_OF(-8, -16, -24, 8, 16));
		break;
	case 4:
		put(p, BPF_ALU64 | op | BPF_X, own(), any(), 0, 0);
		break;
	default:
		put(p, ONE_OF(BPF_ALU64, BPF_ALU64, BPF_ALU) | op | BPF_K, own(), 0, 0, chance(8));
	}
}

/* A number from data, with an end by one way or another. */
static void make_index(struct program *p, uint8_t reg)
{
	int s = size(), most = ONE_OF(1, 3, 7, 15, 5, 11);

	put(p, BPF_LDX | BPF_MEM | s, reg, 6, offset(6, s), 0);
	switch (chance(6)) {
	case 0:
		put(p, ONE_OF(BPF_ALU64, BPF_ALU) | BPF_MOD | BPF_K, reg, 0, 0, most);
		break;
	case 1:
		put(p, BPF_JMP | ONE_OF(BPF_JLE, BPF_JLT) | BPF_K, reg, 0, 1, most);
		put(p, BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, chance(8));
		break;
	case 2:
		put(p, ONE_OF(BPF_JMP, BPF_JMP32) | BPF_JLE | BPF_K, reg, 0, 1, most);
		put(p, BPF_ALU | BPF_MOV | BPF_K, reg, 0, 0, chance(8));
		break;
	case 3:
		put(p, BPF_ALU64 | BPF_AND | BPF_K, reg, 0, 0, 3);
		put(p, ONE_OF(BPF_ALU64, BPF_ALU) | ONE_OF(BPF_LSH, BPF_MUL) | BPF_K, reg, 0, 0,
		    ONE_OF(1, 2));
		break;
	case 4:
		put(p, BPF_ALU | BPF_RSH | BPF_K, reg, 0, 0, 28);
		break;
	default:
		put(p, ONE_OF(BPF_ALU64, BPF_ALU) | BPF_AND | BPF_K, reg, 0, 0, most);
	}
	if (chance(3) == 0)
		put(p, ONE_OF(BPF_ALU64, BPF_ALU) | ONE_OF(BPF_ADD, BPF_SUB) | BPF_K, reg, 0, 0,
		    chance(5));
}

/* An address as code often has it: of the stack, or where the value of a map is, moved by data. */
static void make_address(struct program *p)
{
	uint8_t reg = own(), by = ONE_OF(0, 1, 2);

	switch (chance(4)) {
	case 0:
		put(p, BPF_ALU64 | BPF_MOV | BPF_X, reg, 10, 0, 0);
		put(p, BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0, -8 * (int)(1 + chance(4)));
		break;
	case 1:
		put_map(p, reg, chance(3));
		break;
	default:
		make_index(p, by);
		put(p, BPF_ALU64 | BPF_MOV | BPF_X, reg, ONE_OF(6, 10, 10, 10), 0, 0);
		put(p, BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0, ONE_OF(0, -STACK, -STACK, -16));
		put(p, BPF_ALU64 | ONE_OF(BPF_ADD, BPF_ADD, BPF_SUB) | BPF_X, reg, by, 0, 0);
		if (chance(2))
			make_said(p, reg, ONE_OF(0, 0, -4, 4, 8), BPF_B); /* aligned */
	}
}

static void put_stack(struct program *p, uint8_t reg)
{
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, reg, ONE_OF(10, 10, 10, 8, 9, 6), 0, 0);
	put(p, BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0,
	    ONE_OF(-8, -16, -24, -32, -4, -12, 0, SAVED));
}

static void make_call(struct program *p)
{
	switch (chance(6)) {
	case 5: /* as compilers save a register, below all else */
		put(p, BPF_STX | BPF_MEM | BPF_DW, 10, 1, SAVED, 0);
		put_call(p, BPF_FUNC_get_smp_processor_id);
		put(p, BPF_LDX | BPF_MEM | BPF_DW, 1, 10, SAVED, 0);
		break;
	case 0:
		put_stack(p, 2);
		put_map(p, 1, ARRAY);
		put_call(p, BPF_FUNC_map_lookup_elem);
		put(p, BPF_JMP | BPF_JNE | BPF_K, 0, 0, 1, 0);
		put(p, BPF_ALU64 | BPF_MOV | BPF_X, 0, ONE_OF(6, 7, 10), 0, 0);
		break;
	case 1:
		put_stack(p, 2);
		put_stack(p, 3);
		put(p, BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, 0);
		put_map(p, 1, ARRAY);
		put_call(p, BPF_FUNC_map_update_elem);
		break;
	case 2:
		put_stack(p, 2);
		put_map(p, 1, QUEUE);
		put_call(p, BPF_FUNC_map_pop_elem);
		break;
	case 3:
		put_stack(p, 2);
		put(p, BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, 0);
		put_map(p, 1, QUEUE);
		put_call(p, BPF_FUNC_map_push_elem);
		break;
	default:
		put_stack(p, 2);
		put(p, ONE_OF(BPF_ALU, BPF_ALU64) | BPF_MOV | BPF_K, 3, 0, 0, 8 + chance(9));
		put(p, BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, 0);
		put_map(p, 1, RING);
		put_call(p, BPF_FUNC_ringbuf_output);
	}
}

static void make_branch(struct program *p)
{
	if (chance(3)) {
		put(p, BPF_JMP | ONE_OF(BPF_JEQ, BPF_JNE) | BPF_K, any(), 0, 1 + chance(4), 0);
		return;
	}
	if (chance(2))
		put(p, BPF_JMP | ONE_OF(BPF_JEQ, BPF_JGT) | BPF_K, any(), 0, 1 + chance(4), 5);
	else
		put(p, ONE_OF(BPF_JMP, BPF_JMP32) | ONE_OF(BPF_JEQ, BPF_JGT) | BPF_X, any(), any(),
		    1 + chance(4), 0);
}

static void make_body(struct program *p)
{
	static void (*const kinds[])(struct program *) = {
		make_memory,	 make_memory,	  make_memory,	make_memory,
		make_arithmetic, make_arithmetic, make_atomic,	make_branch,
		make_call,	 make_address,	  make_address, make_address,
	};

	for (uint32_t n = 4 + chance(BODY - 4); n; n--)
		kinds[chance(sizeof(kinds) / sizeof(kinds[0]))](p);
}

/* Jumps go over at most four instructions. */
static void put_end(struct program *p)
{
	for (int n = 0; n < 4; n++)
		put(p, BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
	put(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void make(struct program *p)
{
	size_t call = 0;

	memset(p, 0, sizeof(*p));
	put(p, BPF_ST | BPF_MEM | BPF_W, 10, 0, -40, 0);
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0);
	put(p, BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -40);
	put_map(p, 1, ARRAY);
	put_call(p, BPF_FUNC_map_lookup_elem);
	put(p, BPF_JMP | BPF_JNE | BPF_K, 0, 0, 1, 0);
	put(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, 6, 0, 0, 0);
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, 7, 0, 0, 0);
	for (int reg = 0; reg < 10; reg++)
		if (reg != 6 && reg != 7)
			put(p, BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, chance(3) * 8);
	make_body(p);
	if (chance(3) == 0) {
		put_stack(p, 1);
		put(p, BPF_ALU64 | BPF_MOV | BPF_X, 2, any(), 0, 0);
		call = p->count;
		put(p, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0);
		for (int reg = 1; reg < 6; reg++)
			put(p, BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, 0);
		make_memory(p);
		make_memory(p);
	}
	put_end(p);
	if (!call)
		return;
	p->insns[call].imm = p->count - call - 1;
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0);
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, 7, 2, 0, 0);
	put(p, BPF_ALU64 | BPF_MOV | BPF_X, 8, 1, 0, 0);
	for (int reg = 0; reg < 10; reg++)
		if (reg < 6 || reg == 9)
			put(p, BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, chance(3) * 8);
	make_body(p);
	put_end(p);
}

/* ---- the verifier ---------------------------------------------------------------------------- */

static char said[1 << 16];

/* Lines are "12: (79) r9 = *(u64 *)(r6 +8) ; ...", and behind the last of them why. */
static const char *last_line(size_t *at)
{
	const char *why = said;
	unsigned int n, code;

	for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n"))
		if (sscanf(line, "%u: (%x)", &n, &code) == 2)
			*at = n;
		else if (strncmp(line, "processed ", 10) && strncmp(line, "verification ", 13) &&
			 strncmp(line, "stack depth ", 12))
			why = line;
	return why;
}

/* Why it does not take it; NULL: it does. `at`: the instruction that it came to. */
static const char *verifier(const struct program *p, size_t *at)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .log_buf = said, .log_size = sizeof(said),
		    .log_level = 1);
	int fd;

	said[0] = 0;
	fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "flow", "GPL", p->insns, p->count, &opts);
	if (fd < 0)
		return last_line(at);
	close(fd);
	return NULL;
}

static void capabilities(struct __user_cap_data_struct sets[2], int call)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };

	if (syscall(call, &head, sets)) {
		perror("flow_kernel: capabilities");
		exit(2);
	}
}

/* As one who has CAP_BPF alone. */
static const char *strict_verifier(const struct program *p, size_t *at)
{
	struct __user_cap_data_struct all[2], few[2];
	const char *why;

	capabilities(all, SYS_capget);
	memcpy(few, all, sizeof(few));
	few[0].effective &= ~CAP_TO_MASK(CAP_SYS_ADMIN);
	few[1].effective &= ~CAP_TO_MASK(CAP_PERFMON);
	capabilities(few, SYS_capset);
	why = verifier(p, at);
	capabilities(all, SYS_capset);
	return why;
}

/* It is not about what a module learns, or flow.c does not leave it at that. */
static bool is_harmless(const struct bpf_insn *at, const char *why, bool zeros)
{
	static const char *const speculation[] = {
		"prohibited for !root",
		"variable stack access",
		"too complex",
		"too large",
		"attempt to corrupt spilled pointer", /* it stays one for flow.c */
	};

	for (size_t i = 0; i < sizeof(speculation) / sizeof(speculation[0]); i++)
		if (strstr(why, speculation[i]))
			return true;
	/* Whether an address is 0 says nothing of it. */
	if (strstr(why, "pointer comparison prohibited") && !at->imm &&
	    (at->code == (BPF_JMP | BPF_JEQ | BPF_K) || at->code == (BPF_JMP | BPF_JNE | BPF_K)))
		return true;
	return zeros && (strstr(why, "invalid read from stack") ||
			 strstr(why, "invalid indirect read from stack"));
}

/* ---------------------------------------------------------------------------------------------- */

static struct {
	uint32_t run, taken, zeros, leaking, strict, unloaded;
} counts;

static void print(const struct program *p)
{
	for (size_t n = 0; n < p->count; n++)
		fprintf(stderr, "%zu: code %02x dst %u src %u off %d imm %d\n", n, p->insns[n].code,
			p->insns[n].dst_reg, p->insns[n].src_reg, p->insns[n].off, p->insns[n].imm);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static int load(const struct bpf_insn *insns, size_t count)
{
	return bpf_prog_load(BPF_PROG_TYPE_XDP, "flow", "GPL", insns, count, NULL);
}

/* Leaves a stain all over the stack. */
static int stain_load(int stain)
{
	struct program p = { .count = 0 };

	put(&p, BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, stain);
	for (int at = -512; at < 0; at += 4)
		put(&p, BPF_STX | BPF_MEM | BPF_W, 10, 1, at, 0);
	put(&p, BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
	put(&p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	return load(p.insns, p.count);
}

static bool test_run(int fd)
{
	uint8_t packet[64] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet));

	return !bpf_prog_test_run_opts(fd, &opts);
}

/* With this in its map, and nothing in its queue; `value` is what it makes of it. */
static bool run(int fd, int stain_fd, uint8_t value[VALUE])
{
	uint8_t entry[QUEUED];
	uint32_t zero = 0;

	while (!bpf_map_lookup_and_delete_elem(maps[QUEUE].fd, NULL, entry))
		;
	return !bpf_map_update_elem(maps[ARRAY].fd, &zero, value, BPF_ANY) && test_run(stain_fd) &&
	       test_run(fd) && !bpf_map_lookup_elem(maps[ARRAY].fd, &zero, value);
}

/* What it makes of it does not depend on what others have left on the stack. */
static bool runs_alike(const struct program *p, const uint64_t *zeros)
{
	static int stains[2];
	size_t count = p->count;
	struct bpf_insn *insns = zeros_put(p->insns, &count, 0, zeros);
	int fd = insns ? load(insns, count) : -1;
	bool alike = true;

	/* Now that it knows what is there, the verifier may find fault with what is done with it.
	 */
	counts.unloaded += fd < 0;
	for (int i = 0; i < 2 && !stains[i]; i++)
		stains[i] = stain_load(i ? 0x5a5a5a5a : 0x25252525);
	for (int n = 0; fd >= 0 && alike && n < 6; n++) {
		uint8_t one[VALUE], other[VALUE];

		for (size_t i = 0; i < VALUE; i++)
			one[i] = other[i] = ONE_OF(0, 0, 1, 3, 7, 8, 15, 64, 255);
		alike = run(fd, stains[0], one) && run(fd, stains[1], other) &&
			!memcmp(one, other, VALUE);
	}
	if (fd >= 0)
		close(fd);
	free(insns);
	return alike;
}

/* ---------------------------------------------------------------------------------------------- */

static bool wrong(const struct program *p, const char *how)
{
	print(p);
	fprintf(stderr, "flow.c takes this; %s\n", how);
	return false;
}

static bool hold(const struct program *p)
{
	struct flow_maps all = { maps, 3 };
	char why[FLOW_WHY_LEN] = "";
	uint64_t zeros[INSNS_MAX] = { 0 };
	bool taken, has_zeros = false;
	const char *strict;
	size_t at = 0;

	if (verifier(p, &at))
		return true;
	counts.run++;
	taken = !flow_check(p->insns, p->count, 0, &all, zeros, why);
	for (size_t n = 0; n < p->count; n++)
		has_zeros |= zeros[n] != 0;
	strict = strict_verifier(p, &at);
	counts.taken += taken;
	counts.zeros += taken && has_zeros;
	counts.leaking += !taken && strict;
	counts.strict += !taken && !strict;
	if (taken && strict && !is_harmless(&p->insns[at], strict, has_zeros))
		return wrong(p, strict);
	if (taken && !runs_alike(p, zeros))
		return wrong(p, "with its zeros it sees what was on the stack");
	return true;
}

static void make_map(int which, enum bpf_map_type type, uint32_t key_len, uint32_t value_len,
		     uint32_t entries)
{
	maps[which] =
		(struct flow_map){ bpf_map_create(type, NULL, key_len, value_len, entries, NULL),
				   type, key_len, value_len };
	if (maps[which].fd < 0) {
		perror("flow_kernel: a map");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	uint32_t count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	struct program p;

	if (!count)
		return 2;
	seed = strtoull(argv[1], NULL, 10);
	make_map(ARRAY, BPF_MAP_TYPE_ARRAY, 4, VALUE, 1);
	make_map(QUEUE, BPF_MAP_TYPE_QUEUE, 0, QUEUED, 4);
	make_map(RING, BPF_MAP_TYPE_RINGBUF, 0, 0, 4096);
	for (uint32_t n = 0; n < count; n++) {
		make(&p);
		if (!hold(&p))
			return 1;
	}
	printf("{\"programs\": %u, \"run\": %u, \"taken\": %u, \"zeros\": %u, \"leaking\": %u, "
	       "\"strict\": %u, \"unloaded\": %u}\n",
	       count, counts.run, counts.taken, counts.zeros, counts.leaking, counts.strict,
	       counts.unloaded);
	return 0;
}
