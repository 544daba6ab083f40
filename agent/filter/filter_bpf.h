/* SPDX-License-Identifier: GPL-2.0 */
/* Filter, from classic BPF to a piece of an eBPF program, at the place that bpf/filter.h leaves. */
#ifndef AGENT_FILTER_BPF_H
#define AGENT_FILTER_BPF_H

#include <linux/bpf.h>

#include "filter.h"

enum filter_hook { FILTER_XDP, FILTER_SKB };

struct filter_bpf {
	/* They jump among themselves, call nothing but helpers, and end in one exit. */
	struct bpf_insn *insns;
	uint16_t *from; /* for each of them the classic instruction it was made of */
	uint32_t len;
};

/* Translates a filter that was checked. It expects the context in r1, and for FILTER_SKB a VLAN tag
 * in r2; it leaves 1 or 0 in r0, and nothing of what was in r1 to r9. Its stack are the
 * FILTER_STACK bytes in front of the frame pointer plus `stack`, which is 0 or negative. Returns 0,
 * or -errno with the reason in `why`. */
int filter_translate(struct filter_bpf *b, const struct filter *f, enum filter_hook hook,
		     int16_t stack, char *why, size_t why_len);
void filter_bpf_free(struct filter_bpf *b);

#endif
