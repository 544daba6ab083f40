/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Insert: inserts instructions into a program that libbpf is about to load, with calls and maps
 * resolved (prog_prepare_load_fn). In: a program, and instructions to insert before some of its
 * own. Out: the program with both. Always holds: calls keep their targets, and BTF's functions and
 * lines their instructions. Jumps keep their distance, so nothing may be inserted between a jump
 * and its target.
 */
#ifndef AGENT_PROGRAMS_INSERT_H
#define AGENT_PROGRAMS_INSERT_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct insert {
	size_t at; /* before this instruction; the count: at the end */
	const struct bpf_insn *insns;
	size_t len;
	bool enters; /* the function of `at` begins here, so calls of it enter here */
};

/* Returns a copy of `*count` instructions with `n` inserts, each before another instruction. The
 * caller frees it. `*count`: set to the new number. NULL: no memory. */
struct bpf_insn *insert_copy(const struct bpf_insn *insns, size_t *count, const struct insert *all,
			     size_t n);
/* Replaces the program by `insns`, made by insert_copy(). Returns 0 or -errno. */
int insert_done(struct bpf_program *prog, struct bpf_prog_load_opts *opts, struct bpf_insn *insns,
		size_t count, const struct insert *all, size_t n);

#endif
