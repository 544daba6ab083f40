/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Insert: instructions put into a program that libbpf is about to load, its calls and maps resolved
 * (prog_prepare_load_fn). In: a program and what goes in front of which of its instructions. Out:
 * the program with both. Always holds: calls lead where they led, and what BTF says of functions
 * and lines is of the same instructions; a jump is as far as before, so that nothing goes in
 * between it and its target.
 */
#ifndef AGENT_PROGRAMS_INSERT_H
#define AGENT_PROGRAMS_INSERT_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct insert {
	size_t at; /* in front of which; as many as there are: behind all */
	const struct bpf_insn *insns;
	size_t len;
	bool enters; /* who calls the instruction `at` enters here, as its function begins here */
};

/* A copy of `*count` instructions with `n` inserts, each in front of another; the caller frees it.
 * `*count`: how many it has. NULL: no memory. */
struct bpf_insn *insert_copy(const struct bpf_insn *insns, size_t *count, const struct insert *all,
			     size_t n);
/* Lets the program be `insns`, which insert_copy() made of it. Returns 0 or -errno. */
int insert_done(struct bpf_program *prog, struct bpf_prog_load_opts *opts, struct bpf_insn *insns,
		size_t count, const struct insert *all, size_t n);

#endif
