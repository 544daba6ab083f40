// SPDX-License-Identifier: GPL-2.0
/* Zeros: see zeros.h. */
#include "zeros.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/tap/insn.h"
#include "flow_state.h"

/* Of each instruction of the program as it was. */
struct more {
	size_t count;
	uint64_t *slots; /* to be zeroed in front of it, an instruction each */
	uint32_t *place; /* where it is then */
};

static void more_free(struct more *m)
{
	free(m->slots);
	free(m->place);
}

static int more_make(struct more *m, size_t count, size_t shim, const uint64_t *slots)
{
	uint32_t more = 0;

	m->count = count;
	m->slots = calloc(count, sizeof(*m->slots));
	m->place = calloc(count, sizeof(*m->place));
	if (!m->slots || !m->place)
		return -ENOMEM;
	for (size_t n = 0; n < count; n++) {
		if (slots[n])
			m->slots[n ? n : shim] = slots[n];
		more += __builtin_popcountll(m->slots[n]);
		m->place[n] = n + more;
	}
	return 0;
}

/* Where a function begins, with its zeros. */
static uint32_t entry(const struct more *m, size_t n)
{
	return m->place[n] - __builtin_popcountll(m->slots[n]);
}

/* Jumps stay within a function, all of it behind its zeros, and go as far as before. The shim's
 * last goes to the next instruction, whichever that is. */
static void aim(const struct more *m, struct bpf_insn *insn, size_t n)
{
	if (insn_is_call(insn) && (size_t)insn_target(insn, n) < m->count)
		insn->imm = (int64_t)entry(m, insn_target(insn, n)) - m->place[n] - 1;
}

static size_t put_zeros(struct bpf_insn *out, uint64_t slots)
{
	size_t count = 0;

	for (int slot = 0; slot < FLOW_SLOTS; slot++)
		if (slots >> slot & 1)
			out[count++] = (struct bpf_insn){ .code = BPF_ST | BPF_MEM | BPF_DW,
							  .dst_reg = BPF_REG_10,
							  .off = slot * 8 - FLOW_STACK_LEN };
	return count;
}

static struct bpf_insn *with_zeros(const struct more *m, const struct bpf_insn *was, size_t *count)
{
	struct bpf_insn *is;
	size_t at = 0;

	*count = m->place[m->count - 1] + 1;
	is = calloc(*count, sizeof(*is));
	for (size_t n = 0; is && n < m->count; n++) {
		at += put_zeros(&is[at], m->slots[n]);
		is[at] = was[n];
		aim(m, &is[at++], n);
	}
	return is;
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

struct bpf_insn *zeros_put(const struct bpf_insn *insns, size_t *count, size_t shim,
			   const uint64_t *slots)
{
	struct more m;
	struct bpf_insn *out = NULL;

	if (!more_make(&m, *count, shim, slots))
		out = with_zeros(&m, insns, count);
	more_free(&m);
	return out;
}

int zeros_insert(struct bpf_program *prog, struct bpf_prog_load_opts *opts, size_t shim,
		 const uint64_t *slots)
{
	struct more m;
	int err = more_make(&m, bpf_program__insn_cnt(prog), shim, slots);
	struct bpf_insn *insns = NULL;
	size_t count;

	if (!err)
		insns = with_zeros(&m, bpf_program__insns(prog), &count);
	err = insns ? bpf_program__set_insns(prog, insns, count) : -ENOMEM;
	if (!err) {
		move_info(&m, opts->func_info, opts->func_info_cnt, opts->func_info_rec_size);
		move_info(&m, opts->line_info, opts->line_info_cnt, opts->line_info_rec_size);
	}
	free(insns);
	more_free(&m);
	return err;
}
