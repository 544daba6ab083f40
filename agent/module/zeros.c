// SPDX-License-Identifier: GPL-2.0
/* Zeros: see zeros.h. */
#include "zeros.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/programs/insert.h"
#include "flow_state.h"

struct zeros {
	struct insert *all;
	size_t count;
	struct bpf_insn *insns; /* of the whole program */
};

static void zeros_free(struct zeros *z)
{
	free(z->all);
	free(z->insns);
}

static size_t store_zeros(struct bpf_insn *out, uint64_t slots)
{
	size_t count = 0;

	for (int slot = 0; slot < FLOW_SLOTS; slot++)
		if (slots >> slot & 1)
			out[count++] = (struct bpf_insn){ .code = BPF_ST | BPF_MEM | BPF_DW,
							  .dst_reg = BPF_REG_10,
							  .off = slot * 8 - FLOW_STACK_LEN };
	return count;
}

static int zeros_make(struct zeros *z, size_t count, size_t shim, const uint64_t *slots)
{
	size_t functions = 0, used = 0;

	for (size_t n = 0; n < count; n++)
		functions += slots[n] != 0;
	z->count = 0;
	z->all = calloc(functions + 1, sizeof(*z->all));
	z->insns = calloc(functions * FLOW_SLOTS + 1, sizeof(*z->insns));
	if (!z->all || !z->insns)
		return -ENOMEM;
	for (size_t n = 0; n < count; n++) {
		struct insert *i = &z->all[z->count];

		if (!slots[n])
			continue;
		*i = (struct insert){ n ? n : shim, &z->insns[used],
				      store_zeros(&z->insns[used], slots[n]), true };
		used += i->len;
		z->count++;
	}
	return 0;
}

struct bpf_insn *zeros_put(const struct bpf_insn *insns, size_t *count, size_t shim,
			   const uint64_t *slots)
{
	struct bpf_insn *out = NULL;
	struct zeros z;

	if (!zeros_make(&z, *count, shim, slots))
		out = insert_copy(insns, count, z.all, z.count);
	zeros_free(&z);
	return out;
}

int zeros_insert(struct bpf_program *prog, struct bpf_prog_load_opts *opts, size_t shim,
		 const uint64_t *slots)
{
	size_t count = bpf_program__insn_cnt(prog);
	struct bpf_insn *insns = NULL;
	struct zeros z;
	int err = zeros_make(&z, count, shim, slots);

	if (!err)
		insns = insert_copy(bpf_program__insns(prog), &count, z.all, z.count);
	err = insns ? insert_done(prog, opts, insns, count, z.all, z.count) : -ENOMEM;
	free(insns);
	zeros_free(&z);
	return err;
}
