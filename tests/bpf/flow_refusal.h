/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel verifier's reason for refusing a program, read from its log, for flow_kernel; and
 * which refusals are no leak.
 */
#ifndef TESTS_BPF_FLOW_REFUSAL_H
#define TESTS_BPF_FLOW_REFUSAL_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

struct refusal {
	char why[256];
	size_t at; /* the instruction that the verifier reached */
};

void refusal_read(const char *log, struct refusal *out);
/* Returns the reason to count if the verifier refuses it for another reason than a leak or
 * unwritten stack. Returns NULL for these two, or for an unknown reason. */
const char *refusal_is_harmless(const struct refusal *r, const char *log,
				const struct bpf_insn *insns, bool unguarded);

#endif
