// SPDX-License-Identifier: GPL-2.0
/* Zeros: see zeros.h. */
#include "zeros.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUNCTIONS_MAX 256 /* BPF_MAX_SUBPROGS, include/linux/bpf_verifier.h */
#define LOG_LEN (64 << 10)
#define LOG_STATS 4 /* BPF_LOG_STATS, the same */

/* Of each instruction of the program as it was. */
struct more {
	size_t count, shim;
	bool *begins;	 /* a function */
	uint32_t *words; /* of stack: zeros that are put in front of it, an instruction each */
	uint32_t *place; /* where it is then */
};

/* ---- how deep a stack is --------------------------------------------------------------------- */

static bool is_call(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP | BPF_CALL) && i->src_reg == BPF_PSEUDO_CALL;
}

/* "stack depth 16+8+0", in bytes, of functions in their order. */
static size_t read_depths(const char *log, uint32_t depths[FUNCTIONS_MAX])
{
	const char *at = strstr(log, "stack depth ");
	size_t count = 0;
	char *end;

	for (at = at ? at + strlen("stack depth") : NULL; at && count < FUNCTIONS_MAX; at = end) {
		depths[count++] = strtoul(at + 1, &end, 10);
		if (*end != '+')
			break;
	}
	return count;
}

/* As the verifier says, of the program without zeros. */
static size_t depths_of(const struct bpf_program *prog, const struct bpf_prog_load_opts *opts,
			uint32_t depths[FUNCTIONS_MAX])
{
	struct bpf_prog_load_opts o = *opts;
	char *log = calloc(1, LOG_LEN);
	size_t count = 0;
	int fd;

	o.log_buf = log;
	o.log_size = LOG_LEN;
	o.log_level = LOG_STATS;
	fd = log ? bpf_prog_load(bpf_program__type(prog), NULL, "GPL", bpf_program__insns(prog),
				 bpf_program__insn_cnt(prog), &o)
		 : -ENOMEM;
	if (fd >= 0) {
		count = read_depths(log, depths);
		close(fd);
	}
	free(log);
	return count;
}

/* Functions are in their order there. */
static void find_words(struct more *m, const bool *functions, const uint32_t *depths,
		       size_t depth_count)
{
	for (size_t n = 0, function = 0; n < m->count && function < depth_count; n++) {
		if (m->begins[n] && functions[n])
			m->words[n ? n : m->shim] = (depths[function] + 7) / 8;
		function += m->begins[n];
	}
}

static void find_functions(struct more *m, const struct bpf_insn *insns)
{
	m->begins[0] = true;
	for (size_t n = 0; n < m->count; n++)
		if (is_call(&insns[n]) && n + 1 + insns[n].imm < m->count)
			m->begins[n + 1 + insns[n].imm] = true;
}

static void find_places(struct more *m)
{
	uint32_t more = 0;

	for (size_t n = 0; n < m->count; n++) {
		more += m->words[n];
		m->place[n] = n + more;
	}
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* Where a function begins, with its zeros. */
static uint32_t entry(const struct more *m, size_t n)
{
	return m->place[n] - m->words[n];
}

/* Where a jump goes: past zeros, which are written once; the shim's goes to the module's. */
static uint32_t aim_of(const struct more *m, size_t n, size_t to)
{
	return n < m->shim ? entry(m, to) : m->place[to];
}

/* The verifier has seen that targets are within the program. */
static int aim(const struct more *m, const struct bpf_insn *was, struct bpf_insn *is, size_t n)
{
	uint8_t class = BPF_CLASS(was->code), op = BPF_OP(was->code);
	int64_t from = (int64_t)m->place[n] + 1, off;

	if (is_call(was)) {
		is->imm = entry(m, n + 1 + was->imm) - from;
	} else if (was->code == (BPF_JMP32 | BPF_JA)) {
		is->imm = aim_of(m, n, n + 1 + was->imm) - from;
	} else if ((class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT) {
		off = (int64_t)aim_of(m, n, n + 1 + was->off) - from;
		is->off = off;
		return is->off == off ? 0 : -E2BIG;
	}
	return 0;
}

static struct bpf_insn *with_zeros(const struct more *m, const struct bpf_insn *was, size_t *count)
{
	struct bpf_insn *is = NULL;
	size_t at = 0;
	int err = 0;

	*count = m->place[m->count - 1] + 1;
	is = calloc(*count, sizeof(*is));
	for (size_t n = 0; is && !err && n < m->count; n++) {
		for (uint32_t word = 1; word <= m->words[n]; word++)
			is[at++] = (struct bpf_insn){ .code = BPF_ST | BPF_MEM | BPF_DW,
						      .dst_reg = BPF_REG_10,
						      .off = -8 * (int)word };
		is[at] = was[n];
		/* The second half of a wide one has no code. */
		err = was[n].code ? aim(m, &was[n], &is[at], n) : 0;
		at++;
	}
	if (!err)
		return is;
	free(is);
	return NULL;
}

/* What BTF says of functions and lines: both begin with an offset. libbpf holds it for this program
 * alone. */
static void move_info(const struct more *m, const void *info, uint32_t count, uint32_t size)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t *off = (uint32_t *)((char *)info + (size_t)i * size);

		*off = *off < m->count ? entry(m, *off) : *off;
	}
}

static int insert(struct bpf_program *prog, struct bpf_prog_load_opts *opts, const struct more *m)
{
	size_t count;
	struct bpf_insn *insns = with_zeros(m, bpf_program__insns(prog), &count);
	int err = insns ? bpf_program__set_insns(prog, insns, count) : -ENOMEM;

	free(insns);
	if (err)
		return err;
	move_info(m, opts->func_info, opts->func_info_cnt, opts->func_info_rec_size);
	move_info(m, opts->line_info, opts->line_info_cnt, opts->line_info_rec_size);
	return 0;
}

/* ---------------------------------------------------------------------------------------------- */

int zeros_insert(struct bpf_program *prog, struct bpf_prog_load_opts *opts, size_t shim,
		 const bool *functions)
{
	size_t count = bpf_program__insn_cnt(prog);
	struct more m = { .count = count,
			  .shim = shim,
			  .begins = calloc(count, sizeof(*m.begins)),
			  .words = calloc(count, sizeof(*m.words)),
			  .place = calloc(count, sizeof(*m.place)) };
	uint32_t depths[FUNCTIONS_MAX];
	size_t depth_count = depths_of(prog, opts, depths);
	int err = m.begins && m.words && m.place ? 0 : -ENOMEM;

	if (!err && depth_count) {
		find_functions(&m, bpf_program__insns(prog));
		find_words(&m, functions, depths, depth_count);
		find_places(&m);
		err = insert(prog, opts, &m);
	}
	free(m.begins);
	free(m.words);
	free(m.place);
	return err;
}
