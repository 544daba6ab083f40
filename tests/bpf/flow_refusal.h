/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why the kernel's verifier refuses a program, read from its log, for flow_kernel; and which of
 * these refusals are no leak.
 */
#ifndef TESTS_BPF_FLOW_REFUSAL_H
#define TESTS_BPF_FLOW_REFUSAL_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

struct refusal {
	char why[256];
	size_t at; /* the instruction that the verifier came to */
};

void refusal_read(const char *log, struct refusal *out);
/* The reason to count, where the verifier refuses it for another reason than a leak or stack that
 * was not written. NULL: it is one of these two, or a reason that nobody has looked at. */
const char *refusal_is_harmless(const struct refusal *r, const char *log,
				const struct bpf_insn *insns, bool unguarded);

#endif
