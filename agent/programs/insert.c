// SPDX-License-Identifier: GPL-2.0
/* Insert: see insert.h. */
#include "insert.h"

#include <stdlib.h>
#include <string.h>

#include "insn.h"

/* Returns the new place of the nth instruction; `enters`: of its entry. */
static size_t place(const struct insert *all, size_t n, size_t at, bool enters)
{
	size_t to = at;

	for (const struct insert *i = all; i < all + n; i++)
		if (i->at < at || (i->at == at && !(enters && i->enters)))
			to += i->len;
	return to;
}

struct bpf_insn *insert_copy(const struct bpf_insn *insns, size_t *count, const struct insert *all,
			     size_t n)
{
	size_t was = *count;
	struct bpf_insn *is;

	*count = place(all, n, was, false);
	is = calloc(*count, sizeof(*is));
	for (size_t at = 0; is && at < was; at++) {
		size_t to = place(all, n, at, false);

		is[to] = insns[at];
		if (insn_is_call(&insns[at]))
			is[to].imm = place(all, n, insn_target(&insns[at], at), true) - to - 1;
	}
	for (const struct insert *i = all; is && i < all + n; i++)
		memcpy(&is[place(all, n, i->at, false) - i->len], i->insns, i->len * sizeof(*is));
	return is;
}

/* Moves records about functions or lines: each begins with an instruction's number. libbpf has them
 * for this program only. */
static void move_info(const void *info, size_t count, size_t size, const struct insert *all,
		      size_t n)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t *at = (uint32_t *)((char *)info + i * size);

		*at = place(all, n, *at, true);
	}
}

int insert_done(struct bpf_program *prog, struct bpf_prog_load_opts *opts, struct bpf_insn *insns,
		size_t count, const struct insert *all, size_t n)
{
	int err = bpf_program__set_insns(prog, insns, count);

	if (err)
		return err;
	move_info(opts->func_info, opts->func_info_cnt, opts->func_info_rec_size, all, n);
	move_info(opts->line_info, opts->line_info_cnt, opts->line_info_rec_size, all, n);
	return 0;
}
