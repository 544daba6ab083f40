/* SPDX-License-Identifier: GPL-2.0 */
/* Filter, translated from classic BPF to a part of an eBPF program, for the place in
 * bpf/filter.h. */
#ifndef AGENT_FILTER_BPF_H
#define AGENT_FILTER_BPF_H

#include <linux/bpf.h>

#include "filter.h"

enum filter_hook { FILTER_XDP, FILTER_SKB };

struct filter_bpf {
	/* The instructions jump only among themselves, call only helpers, and have one exit. */
	struct bpf_insn *insns;
	uint16_t *from; /* for each, the classic instruction that it came from */
	uint32_t len;
};

/* Translates a checked filter. The code expects the context in r1, and for FILTER_SKB a VLAN tag in
 * r2. It returns 1 or 0 in r0 and overwrites r1 to r9. It uses the FILTER_STACK bytes below the
 * frame pointer plus `stack`, which is 0 or negative. Returns 0, or -errno with the reason in
 * `why`. */
int filter_translate(struct filter_bpf *b, const struct filter *f, enum filter_hook hook,
		     int16_t stack, char *why, size_t why_len);
void filter_bpf_free(struct filter_bpf *b);

#endif
