// SPDX-License-Identifier: GPL-2.0
/*
 * Compares agent/module/flow.c with the kernel's verifier, on random programs. The oracle is the
 * verifier's judgement of programs from a process without CAP_PERFMON: it refuses those that leak
 * an address or read unwritten stack. Booted with mitigations=off, Linux 6.7 and later do exactly
 * this. Otherwise the verifier also guards against speculation. Those refusals show nothing about a
 * program, so less is compared.
 *
 * A program that flow.c accepts gets its zeros (agent/module/zeros.c), and the oracle must accept
 * it. It also runs twice, with different bytes left on the stack: they must not affect it.
 *
 *     flow_kernel SEED COUNT
 *
 * Out: one JSON object. "programs" are COUNT, of which root may load "run", flow.c accepts "taken"
 * of these, and the oracle "agreed" of those. "zeros" of the accepted ones need zeros, and the
 * verifier does not load "unloaded" of them with zeros. Both refuse "leaking". "kernel_refuses" and
 * "saluki_refuses" count, by reason, programs that only one refuses. Exits with 1 at the first
 * program that flow.c wrongly accepts, and prints it.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/module/flow.h"
#include "agent/module/proof.h"
#include "agent/module/zeros.h"
#include "flow_random.h"
#include "flow_refusal.h"

#define REASONS 64

static struct flow_map maps[MAPS];
static int map_fds[MAPS];
static bool unguarded;

static struct {
	uint32_t run, taken, agreed, zeros, leaking, unloaded;
} counts;

/* ---- the verifier ---------------------------------------------------------------------------- */

static char said[1 << 16];

/* Returns whether the verifier accepts it; otherwise sets `why`. */
static bool verifier(const struct bpf_insn *insns, size_t count, bool strict, struct refusal *why)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .log_buf = said, .log_size = sizeof(said),
		    .log_level = 1);
	int fd;

	said[0] = 0;
	if (strict)
		fd = proof_load(BPF_PROG_TYPE_XDP, insns, count, &opts);
	else
		fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "flow", "GPL", insns, count, &opts);
	if (fd < 0) {
		refusal_read(said, why);
		return false;
	}
	close(fd);
	return true;
}

/* ---- reasons --------------------------------------------------------------------------------- */

struct reasons {
	struct {
		char why[128];
		uint32_t count;
	} all[REASONS];
	size_t count;
};

static struct reasons kernel_refuses, saluki_refuses;

static void count_reason(struct reasons *r, const char *why)
{
	size_t i = 0;

	while (i < r->count && strcmp(r->all[i].why, why))
		i++;
	if (i == REASONS) {
		fprintf(stderr, "flow_kernel: more than %d reasons\n", REASONS);
		exit(2);
	}
	if (i == r->count)
		snprintf(r->all[r->count++].why, sizeof(r->all[i].why), "%s", why);
	r->all[i].count++;
}

static void print_reasons(const char *name, const struct reasons *r)
{
	printf(", \"%s\": {", name);
	for (size_t i = 0; i < r->count; i++)
		printf("%s\"%s\": %u", i ? ", " : "", r->all[i].why, r->all[i].count);
	printf("}");
}

/* flow.c also names the instruction. */
static void count_strict(char *why)
{
	char *at = strstr(why, " (instruction");

	if (at)
		*at = 0;
	count_reason(&saluki_refuses, why);
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

static int forget(void *context, void *record, size_t len)
{
	(void)context, (void)record, (void)len;
	return 0;
}

/* The ring's free space must not depend on earlier programs. */
static void empty_ring(void)
{
	static struct ring_buffer *ring;

	ring = ring ?: ring_buffer__new(maps[RING].fd, forget, NULL, NULL);
	if (!ring || ring_buffer__consume(ring) < 0) {
		perror("flow_kernel: the ring");
		exit(2);
	}
}

/* Runs it with this in its map, and an empty queue; `value` is the result. */
static bool run(int fd, int stain_fd, uint8_t value[VALUE])
{
	uint8_t entry[QUEUED];
	uint32_t zero = 0;

	while (!bpf_map_lookup_and_delete_elem(maps[QUEUE].fd, NULL, entry))
		;
	empty_ring();
	return !bpf_map_update_elem(maps[ARRAY].fd, &zero, value, BPF_ANY) && test_run(stain_fd) &&
	       test_run(fd) && !bpf_map_lookup_elem(maps[ARRAY].fd, &zero, value);
}

/* Its result must not depend on bytes left on the stack by others. */
static bool runs_alike(const struct bpf_insn *insns, size_t count)
{
	static int stains[2];
	int fd = load(insns, count);
	bool alike = true;

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
	return alike;
}

/* ---- both ------------------------------------------------------------------------------------ */

static void print(const struct bpf_insn *insns, size_t count)
{
	for (size_t n = 0; n < count; n++)
		fprintf(stderr, "%zu: code %02x dst %u src %u off %d imm %d\n", n, insns[n].code,
			insns[n].dst_reg, insns[n].src_reg, insns[n].off, insns[n].imm);
}

static bool wrong(const struct bpf_insn *insns, size_t count, const char *how)
{
	print(insns, count);
	fprintf(stderr, "flow.c takes this, with its zeros; %s\n", how);
	return false;
}

/* Checks a program accepted by flow.c, with its zeros. */
static bool hold_taken(const struct bpf_insn *insns, size_t count)
{
	struct refusal why;
	const char *reason;

	/* With zeros, the verifier knows the content, and may refuse its use. */
	if (!verifier(insns, count, false, &why)) {
		counts.unloaded++;
		return true;
	}
	if (verifier(insns, count, true, &why)) {
		counts.agreed++;
	} else {
		reason = refusal_is_harmless(&why, said, insns, unguarded);
		if (!reason)
			return wrong(insns, count, why.why);
		count_reason(&kernel_refuses, reason);
	}
	return runs_alike(insns, count) || wrong(insns, count, "it sees what was on the stack");
}

static bool hold(const struct program *p)
{
	struct flow_maps all = { maps, MAPS };
	char why[FLOW_WHY_LEN] = "";
	uint64_t zeros[INSNS_MAX] = { 0 };
	size_t count = p->count;
	struct refusal refused;
	struct bpf_insn *insns;
	bool ok;

	if (!verifier(p->insns, p->count, false, &refused))
		return true;
	counts.run++;
	if (flow_check(p->insns, p->count, 0, &all, zeros, why)) {
		if (verifier(p->insns, p->count, true, &refused))
			count_strict(why);
		else
			counts.leaking++;
		return true;
	}
	counts.taken++;
	insns = zeros_put(p->insns, &count, 0, zeros);
	if (!insns) {
		perror("flow_kernel: zeros");
		exit(2);
	}
	counts.zeros += count > p->count;
	ok = hold_taken(insns, count);
	free(insns);
	return ok;
}

static void make_map(int which, enum bpf_map_type type, uint32_t key_len, uint32_t value_len,
		     uint32_t entries)
{
	map_fds[which] = bpf_map_create(type, NULL, key_len, value_len, entries, NULL);
	maps[which] = (struct flow_map){ map_fds[which], type, key_len, value_len };
	if (map_fds[which] < 0) {
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
	random_seed(strtoull(argv[1], NULL, 10));
	make_map(ARRAY, BPF_MAP_TYPE_ARRAY, 4, VALUE, 1);
	make_map(QUEUE, BPF_MAP_TYPE_QUEUE, 0, QUEUED, 4);
	make_map(RING, BPF_MAP_TYPE_RINGBUF, 0, 0, 4096);
	unguarded = proof_is_unguarded();
	for (uint32_t n = 0; n < count; n++) {
		random_program(&p, map_fds);
		if (!hold(&p))
			return 1;
	}
	printf("{\"unguarded\": %s, \"programs\": %u, \"run\": %u, \"taken\": %u, \"agreed\": %u, "
	       "\"zeros\": %u, \"unloaded\": %u, \"leaking\": %u",
	       unguarded ? "true" : "false", count, counts.run, counts.taken, counts.agreed,
	       counts.zeros, counts.unloaded, counts.leaking);
	print_reasons("kernel_refuses", &kernel_refuses);
	print_reasons("saluki_refuses", &saluki_refuses);
	printf("}\n");
	return 0;
}
