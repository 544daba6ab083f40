/* SPDX-License-Identifier: GPL-2.0 */
/* Filter, from classic BPF to the body of an eBPF subprogram of bpf/filter.h. */
#ifndef AGENT_FILTER_BPF_H
#define AGENT_FILTER_BPF_H

#include <linux/bpf.h>

#include "filter.h"

enum filter_hook { FILTER_XDP, FILTER_SKB };

struct filter_bpf {
	struct bpf_insn *insns; /* jump and end among themselves; call nothing but helpers */
	uint16_t *from;		/* for each of them the classic instruction it was made of */
	uint32_t len;
};

/* Translates a filter that was checked. Returns 0, or -errno with the reason in `why`. */
int filter_translate(struct filter_bpf *b, const struct filter *f, enum filter_hook hook, char *why,
		     size_t why_len);
void filter_bpf_free(struct filter_bpf *b);

#endif
